// Draws the cells of a terminal as SVG: text in runs of one style, and backgrounds and block
// characters as rectangles.

const [cellWidth, cellHeight, fontSize] = [9, 20, 15];
const [padding, bar] = [16, 34];
const colours = { fore: '#d8dee9', back: '#161b22', bar: '#21262d', dim: '#8b949e' };

/** The sixteen terminal colours, chosen to be readable on a dark background. */
const sixteen = [
  '#484f58',
  '#ff7b72',
  '#7ee787',
  '#e3b341',
  '#79c0ff',
  '#d2a8ff',
  '#76e3ea',
  '#c9d1d9',
  '#8b949e',
  '#ffa198',
  '#a5f0b0',
  '#f2cc60',
  '#a5d6ff',
  '#e2c5ff',
  '#b3f0ff',
  '#ffffff',
];
const steps = [0, 95, 135, 175, 215, 255];

/**
 * @param value the name of a terminal colour, #rrggbb, or a number in the palette of 256 colours
 */
function colour(value) {
  if (typeof value === 'string') return colours[value] ?? value;
  if (value < 16) return sixteen[value];
  const parts =
    value < 232
      ? [Math.floor((value - 16) / 36), Math.floor((value - 16) / 6) % 6, (value - 16) % 6].map(
          (step) => steps[step],
        )
      : [1, 1, 1].map(() => 8 + (value - 232) * 10);
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * The rectangle that each block character fills: distance from the top and height, as fractions of
 * the cell.
 */
const blocks = { '█': [0, 1], '▀': [0, 0.5], '▄': [0.5, 0.5] };

const escaped = (text) =>
  text.replace(/[&<>]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[char]);

/**
 * @param rows rows of cells { char, fore, back, bold, dim }
 * @param title the description for readers who cannot see the picture
 */
export const drawn = (rows, { columns, title }) =>
  framed(rows.length, columns, title, '', bodyOf(rows));

const sceneSeconds = 3;

/**
 * Draws an SVG picture that shows the scenes in a loop. A viewer that cannot animate an SVG picture
 * shows the last scene.
 */
export function animated(scenes, { columns, title }) {
  const share = 100 / scenes.length;
  const style = [
    `.s{opacity:0;animation:s ${scenes.length * sceneSeconds}s step-end infinite}.s:last-of-type{opacity:1}`,
    `@keyframes s{0%{opacity:1}${share}%{opacity:0}}`,
    ...scenes.map((_, at) => `.s${at}{animation-delay:${(at - scenes.length) * sceneSeconds}s}`),
    '@media(prefers-reduced-motion:reduce){.s{animation:none}}',
  ].join('');
  const groups = scenes.flatMap((rows, at) => [`<g class="s s${at}">`, ...bodyOf(rows), '</g>']);
  return framed(Math.max(...scenes.map((rows) => rows.length)), columns, title, style, groups);
}

const bodyOf = (rows) => [
  ...grounds(rows, groundOf),
  ...grounds(rows, blockOf),
  ...rows.flatMap(texts),
];

function framed(rows, columns, title, style, body) {
  const [width, height] = [
    columns * cellWidth + 2 * padding,
    rows * cellHeight + 2 * padding + bar,
  ];
  const lamps = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, at) => `<circle cx="${20 + at * 20}" cy="${bar / 2}" r="6" fill="${fill}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>text{white-space:pre;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}${style}</style>`,
    `<rect width="${width}" height="${height}" rx="10" fill="${colours.back}"/>`,
    `<path d="M0 ${bar}V10a10 10 0 0 1 10-10H${width - 10}a10 10 0 0 1 10 10V${bar}Z" fill="${colours.bar}"/>`,
    ...lamps,
    `<g font-size="${fontSize}" fill="${colours.fore}" transform="translate(${padding} ${padding + bar})">`,
    ...body,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

export const promptOf = (command, columns) =>
  [...`$ ${command}`].slice(0, columns).map((char, at) => ({
    char,
    fore: at === 0 ? 2 : undefined,
    back: undefined,
    bold: at > 0,
    dim: false,
  }));

const groundOf = ({ back }) =>
  back === undefined ? undefined : { from: 0, share: 1, fill: colour(back) };

function blockOf({ char, fore }) {
  const block = blocks[char];
  return block && { from: block[0], share: block[1], fill: colour(fore ?? 'fore') };
}

/** Draws one path per colour, with a rectangle for each run of cells. */
function grounds(rows, filledOf) {
  const paths = new Map();
  for (const [row, cells] of rows.entries()) {
    for (const { column, count, from, share, fill } of stretches(cells, filledOf)) {
      const [x, y, width, height] = [
        column * cellWidth,
        (row + from) * cellHeight,
        count * cellWidth,
        share * cellHeight,
      ];
      paths.set(fill, `${paths.get(fill) ?? ''}M${x} ${y}h${width}v${height}h-${width}z`);
    }
  }
  return [...paths].map(
    ([fill, d]) => `<path fill="${fill}" shape-rendering="crispEdges" d="${d}"/>`,
  );
}

function stretches(cells, filledOf) {
  const found = [];
  for (const [column, cell] of cells.entries()) {
    const filled = filledOf(cell);
    if (filled === undefined) continue;
    const last = found.at(-1);
    const goesOn =
      last !== undefined && last.column + last.count === column && last.fill === filled.fill;
    if (goesOn && last.from === filled.from && last.share === filled.share) last.count += 1;
    else found.push({ column, count: 1, ...filled });
  }
  return found;
}

/**
 * Draws runs of text in one style. Each run of text is positioned and stretched to its width, so
 * that any font fits.
 */
function texts(cells, row) {
  const runs = [];
  for (const [column, { char, fore, bold, dim }] of cells.entries()) {
    const shown = blocks[char] === undefined ? char : ' ';
    const look = `${fore}${bold}${dim}`;
    const last = runs.at(-1);
    if (last?.look === look) last.text += shown;
    else runs.push({ column, text: shown, look, fore, bold, dim });
  }
  return runs.flatMap(({ column, text, fore, bold, dim }) => {
    const start = text.length - text.trimStart().length;
    const trimmed = text.trim();
    if (trimmed === '') return [];
    return pieces(trimmed).map(({ at, words }) => {
      const [x, y, length] = [
        (column + start + at) * cellWidth,
        row * cellHeight + 15,
        [...words].length * cellWidth,
      ];
      const fill =
        dim && fore === undefined ? colours.dim : fore === undefined ? undefined : colour(fore);
      const looks = [
        fill && ` fill="${fill}"`,
        bold && ' font-weight="bold"',
        dim && fore !== undefined && ' opacity="0.7"',
      ];
      return `<text x="${x}" y="${y}" textLength="${length}"${looks.filter(Boolean).join('')}>${escaped(words)}</text>`;
    });
  });
}

/**
 * Cuts a run of text at wide gaps, so that columns stay aligned in viewers that ignore
 * `textLength`.
 */
const pieces = (text) =>
  [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: words, index }) => ({ at: index, words }));
