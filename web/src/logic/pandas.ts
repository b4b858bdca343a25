// SPDX-License-Identifier: MIT
// The same question as a Python program (docs/python.md).

function pythonText(text: string): string {
  if (!/["\\]/.test(text) && text.includes("\n")) return `"""\n${text}\n"""`;
  const escapes: Record<string, string> = { "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const inside = text.replace(/[\\"\n\r\t]/g, (character) => escapes[character]!);
  return `"${inside}"`;
}

export function asPandas(recording: string, sql: string): string {
  const query = pythonText(sql.trim());
  return `import fathom\n\nwith fathom.open(${pythonText(recording)}) as recording:\n    frame = recording.sql(${query}).df()\n`;
}
