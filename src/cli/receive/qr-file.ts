// Writes the QR code of a payment request to a file (`--qr-file`).
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { invalid } from '../../formats/failure.js';
import { qrPng, qrSvg } from '../../terminal/cards/invoice-card.js';
import { literal } from '../values.js';

export const qrFile = () =>
  literal('FILE', (given) => {
    if (['.svg', '.png'].includes(extname(given).toLowerCase())) return given;
    throw invalid(`"${given}" must end in .svg or .png.`);
  })
    .optional()
    .describe('write the QR code to FILE.svg or FILE.png');

/** Writes a QR code to a file. Throws Failure `usage` if svcpay cannot write the file. */
export async function writeQr(file: string, code: string): Promise<void> {
  await writeFile(file, file.toLowerCase().endsWith('.svg') ? qrSvg(code) : qrPng(code)).catch(
    (cause: unknown) => {
      throw invalid(`The QR code could not be written to ${file}.`, { cause });
    },
  );
}
