// Text that a spreadsheet would take for a formula and carry out.

const opensFormula = /^[=+\-@\t\r\uFF0B\uFF0D\uFF1D\uFF20]/;

/** The text with an apostrophe before it, where a spreadsheet would otherwise compute it. */
export const asPlainCell = (text: string): string => (opensFormula.test(text) ? `'${text}` : text);
