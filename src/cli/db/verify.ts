// Replays the trail of every payment of this home or database, whatever the account.
import { Failure } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { progressBar } from '../../terminal/cards/batch-progress.js';
import { verifiedList } from '../../terminal/views/database-view.js';
import { verify, type Verified } from '../../wallet/payment/verify.js';
import { defineCommand } from '../define.js';
import { list } from '../show.js';
import { choice } from '../values.js';
import { instant, startOf } from '../tx/history-options.js';

const formats = ['prometheus'] as const;

export const dbVerify = defineCommand({
  formats,
  options: {
    format: choice(formats, 'FORMAT').optional().describe('same as -o prometheus: metrics'),
    since: instant().describe('only payments that changed since this time: 36h, 2026-03-01'),
  },
  examples: [
    ['svcpay db verify', 'exits with 10 and names the payments whose trail leads elsewhere'],
    ['svcpay db verify --since 48h -o prometheus > verify.prom', 'writes the result as metrics'],
  ],
  async run({ format, since }, { journal, live, now, out, terminal }) {
    let done = { payments: 0, part: 0 };
    if (terminal.canAnimate)
      live.start(() => {
        const bar = progressBar(done.part, terminal.stderrCanvas);
        return `${bar}  ${counted(done.payments, 'payment')} replayed`;
      });
    const from = since === undefined ? 0 : startOf(since, now());
    const found = await verify(await journal(), from, (payments, part) => {
      done = { payments, part };
      live.update();
      live.progress(part, 1);
    }).finally(live.stop);
    if (format !== undefined) return { ...found, page: metrics(found, now()) };
    const replayed = `${counted(found.payments, 'payment')}, ${counted(found.steps, 'step')}`;
    out.say(`Replayed ${replayed}${found.differing === 0 ? ': no differences.' : '.'}`);
    return found;
  },
  view: list(
    verifiedList,
    (found: Verified & { readonly page?: string }) => found.page ?? found.differences,
  ),
  failure: ({ differing }) =>
    differing === 0
      ? undefined
      : new Failure(
          'books-differ',
          `The journal has ${counted(differing, 'difference')} from its trails or daily totals.`,
          {
            hint:
              'Someone changed the journal, or it is damaged. Compare these payments with the ' +
              'service before you pay from this journal.',
          },
        ),
});

const metrics = ({ payments, differing }: Verified, now: number): string =>
  [
    '# HELP svcpay_verified_payments Payments whose trail the last svcpay db verify replayed.',
    '# TYPE svcpay_verified_payments gauge',
    `svcpay_verified_payments ${payments}`,
    '# HELP svcpay_verify_differences Payments whose trail leads to another state.',
    '# TYPE svcpay_verify_differences gauge',
    `svcpay_verify_differences ${differing}`,
    '# HELP svcpay_verify_time_seconds The time of the last svcpay db verify.',
    '# TYPE svcpay_verify_time_seconds gauge',
    `svcpay_verify_time_seconds ${Math.floor(now / 1000)}`,
    '',
  ].join('\n');
