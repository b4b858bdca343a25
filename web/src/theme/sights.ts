// SPDX-License-Identifier: MIT
// How colours look to people who see them differently. Only tests use it.
import { channels } from "./layers";

// Colours as people see them who lack a kind of cone (Machado, Oliveira, Fernandes 2009, full severity), on linear RGB.
export const sights: Record<string, number[][]> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function product(matrix: readonly number[][], vector: readonly number[]): number[] {
  return matrix.map((row) => row.reduce((sum, value, at) => sum + value * vector[at]!, 0));
}

// CIELAB, in which distances are about as large as differences seem.
export function lab(fill: string, sight: readonly number[][]): number[] {
  const linear = channels(fill).map((value) =>
    value <= 10 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
  );
  const seen = product(sight, linear).map((value) => Math.min(1, Math.max(0, value)));
  const xyz = product(
    [
      [0.4339, 0.3762, 0.1899],
      [0.2126, 0.7152, 0.0722],
      [0.0177, 0.1095, 0.8728],
    ],
    seen,
  );
  const [x, y, z] = xyz.map((value) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116)) as [
    number,
    number,
    number,
  ];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// 2 can just be noticed, 12 is another colour.
export function distance(one: string, other: string, sight: readonly number[][]): number {
  const [a, b] = [lab(one, sight), lab(other, sight)];
  return Math.hypot(...a.map((value, at) => value - b[at]!));
}
