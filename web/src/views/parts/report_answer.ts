// SPDX-License-Identifier: MIT
// A report of `fathom report` that follows the selection.
import { api, type Part, type ReportWish } from "../../api/client";
import type { Asked } from "../../api/asked";
import type { Report } from "../../logic/report";
import { part } from "../../state/selection";
import { useAnswer } from "./answer";

export interface ReportQuestion {
  view: string;
  wish: ReportWish;
  part: Part;
}

export async function askReport({ view, wish, part: of }: ReportQuestion, signal: AbortSignal): Promise<Report> {
  return (await api.report(view, wish, of, signal)) as unknown as Report;
}

export function useReport(view: string, wish: () => ReportWish = () => ({})): Asked<Report> {
  return useAnswer(() => ({ view, wish: wish(), part: part.value }), askReport);
}
