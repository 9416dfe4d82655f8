// Scans the QR codes that a terminal would show.
import xterm from '@xterm/headless';
import jsqr from 'jsqr';

export type Bits = readonly boolean[][];

const black = 16;
const white = 231;

/**
 * Returns the pixels that a terminal shows for lines of half blocks: each cell has two pixels, one
 * above the other.
 */
export async function pixelsOf(lines: readonly string[]): Promise<Bits> {
  const terminal = new xterm.Terminal({
    cols: 250,
    rows: lines.length + 1,
    allowProposedApi: true,
  });
  await new Promise<void>((resolve) => terminal.write(lines.join('\r\n'), resolve));
  const rows = lines.map((_, row) => terminal.buffer.active.getLine(row));
  return rows.flatMap((row) => {
    const width = row?.translateToString(true).length ?? 0;
    const cells = Array.from({ length: width }, (_, column) => row?.getCell(column));
    const upper = cells.map((cell) =>
      cell?.getChars() === '▀' ? isBlack(cell.getFgColor()) : isBlack(cell?.getBgColor()),
    );
    return [upper, cells.map((cell) => isBlack(cell?.getBgColor()))];
  });
}

/**
 * Returns the pixels of text lines that are drawn with sextants: each cell has two by three pixels.
 * The Unicode code points of sextants follow the order of their bit patterns, without the patterns
 * that already existed as other characters.
 */
export async function sextantPixelsOf(lines: readonly string[]): Promise<Bits> {
  const terminal = new xterm.Terminal({
    cols: 250,
    rows: lines.length + 1,
    allowProposedApi: true,
  });
  await new Promise<void>((resolve) => terminal.write(lines.join('\r\n'), resolve));
  const masks = new Map([
    [' ', 0],
    ['▌', 21],
    ['▐', 42],
  ]);
  for (let mask = 1, code = 0x1_fb_00; mask < 63; mask++)
    if (mask !== 21 && mask !== 42) masks.set(String.fromCodePoint(code++), mask);
  return lines.flatMap((_, row) => {
    const line = terminal.buffer.active.getLine(row);
    const width = line?.translateToString(true).length ?? 0;
    const cells = Array.from({ length: width }, (__, column) => line?.getCell(column)).filter(
      (cell) => cell?.getChars() !== '',
    );
    return [0, 2, 4].map((bit) =>
      cells.flatMap((cell) =>
        [bit, bit + 1].map((each) => {
          const isInk = ((masks.get(cell?.getChars() ?? '') ?? 0) & (1 << each)) !== 0;
          return isBlack(isInk ? cell?.getFgColor() : cell?.getBgColor());
        }),
      ),
    );
  });
}

function isBlack(color: number | undefined): boolean {
  if (color !== black && color !== white) throw new Error('A cell in the colours of the theme.');
  return color === black;
}

/**
 * Draws the pixels on a background of brightness `wall`, and scans the picture. `gap` is the space
 * that some terminals leave below each line, in the background colour of the cell above.
 */
export function scan(bits: Bits, { wall = 0, scale = 4, gap = 0 } = {}): string | undefined {
  const columns = bits[0]?.length ?? 0;
  const heightOf = (row: number): number => row * scale + Math.floor(row / 2) * gap;
  const width = (columns + 8) * scale;
  const height = heightOf(bits.length) + 8 * scale;
  const picture = new Uint8ClampedArray(width * height * 4).fill(wall);
  bits.forEach((line, row) => {
    line.forEach((dark, column) => {
      for (let y = 0; y < scale + (row % 2) * gap; y++) {
        const start = ((heightOf(row) + 4 * scale + y) * width + (column + 4) * scale) * 4;
        picture.fill(dark ? 0 : 255, start, start + 4 * scale);
      }
    });
  });
  for (let i = 3; i < picture.length; i += 4) picture[i] = 255;
  return jsqr.default(picture, width, height)?.data;
}

/** Returns the text of the QR code in this output, or undefined if no QR code is readable. */
export async function scanned(output: string): Promise<string | undefined> {
  const lines = output.split(/\r?\n/).filter((line) => line.includes(`48;5;${white}m`));
  return lines.length === 0
    ? undefined
    : scan(await pixelsOf(lines.map((line) => line.trimStart())));
}
