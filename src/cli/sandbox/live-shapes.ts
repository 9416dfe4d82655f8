// Chooses the live response formats of the sandbox by flag or environment.
import { Failure } from '../../formats/failure.js';
import { readShapeNames, shapeNames, shapeOf } from '../../sandbox/live-shapes/table.js';
import type { Output } from '../../terminal/output.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Prints the list of live response formats for `--live-shapes help`. Resolves with true if svcpay
 * printed the list.
 */
export async function listedLiveShapes(
  names: readonly string[] | undefined,
  { out }: { readonly out: Output },
): Promise<boolean> {
  if (names?.includes('help') !== true) return false;
  const rows = shapeNames.map((name) => {
    const { summary, alone } = shapeOf(name);
    return { name, inAll: alone === undefined, summary };
  });
  await out.list(rows, {
    columns: [
      { name: 'name', title: 'Live shape', value: ({ name }) => name },
      {
        name: 'inAll',
        title: 'In all',
        value: ({ inAll }) => (inAll ? 'yes' : 'no'),
      },
      { name: 'summary', title: 'Response', value: ({ summary }) => summary },
    ],
    quiet: ({ name }) => name,
    empty: 'There are no live shapes.',
  });
  return true;
}

/**
 * Returns the names of the response formats that the sandbox copies from live services. The names
 * come from the flag or from `SVCPAY_LIVE_SHAPES`. Throws Failure `usage` for an unknown name.
 */
export function chosenShapes(env: Environment, flag?: readonly string[]): readonly string[] {
  const names = flag ?? env['SVCPAY_LIVE_SHAPES']?.split(',') ?? [];
  try {
    return readShapeNames(names.filter((name) => name !== ''));
  } catch (error) {
    if (error instanceof RangeError)
      throw new Failure('usage', error.message, {
        hint: 'svcpay sandbox start --live-shapes help',
      });
    throw error;
  }
}
