// Mistakes that a payment machine can have, each undoing one of its rules, as changes of the source: the simulation has to
// notice each, or a test that is named. A change whose place is not found any more is an error.
const payment = 'src/wallet/payment';

/**
 * Either schedules notice it, with one home or two or with several `machines`, soon after `seed`, or soon where the service
 * makes this `mistake` of orders; or the `test` does.
 *
 * @typedef {readonly [file: string, find: string, replace: string]} Edit
 * @type {Readonly<Record<string, { edits: readonly Edit[], machines?: boolean, seed?: number, mistake?: string, test?: string }>>}
 */
export const mutations = {
  'no journal write before the confirmation': {
    edits: [[`${payment}/agreeing.ts`, 'const { deps, order, claim, start } = run;', `const { deps, order, claim, start } = run;
      run.claim = { ...claim, intent: { ...claim.intent, step: 'confirming', approvedAt: deps.now() } };
      return;`]],
    seed: 38,
  },
  'another attempt after a lost confirmation': {
    edits: [[`${payment}/settling.ts`, `if (error instanceof Failure && error.kind === 'pending') throw error;`,
      `if (error instanceof Failure && error.kind === 'pending') return void (await nextAttempt(run));`]],
    seed: 86,
  },
  'another attempt after a confirmed payment was called expired': {
    edits: [[`${payment}/settling.ts`, 'if (hasLapsed(run.txn.txnState)) await endDoubt(run);',
      'if (hasLapsed(run.txn.txnState)) return void (await nextAttempt(run));']],
    seed: 333,
  },
  'a confirmed payment that was called expired is over': {
    edits: [[`${payment}/settling.ts`, 'if (hasLapsed(run.txn.txnState)) await endDoubt(run);', ''],
      [`${payment}/settling.ts`, 'isFinal(txnState) && !hasLapsed(txnState) ?', 'isFinal(txnState) ?'],
      [`${payment}/settling.ts`, 'if (hasLapsed(txnState) && wasConfirmed(run.claim.intent)) throw inDoubt', 'if (false) throw inDoubt']],
    seed: 333,
  },
  'the earliest transaction of a reference is not looked for before the confirmation': {
    edits: [[`${payment}/agreeing.ts`, `if (answer !== 'lapsed' && !(await isEarliest(run, txn))) return;`, '']],
    machines: true,
    seed: 255,
  },
  'the reference is not looked for': {
    edits: [[`${payment}/quoting.ts`, `mayBeThere ? await findEarlier(run, 'if-old') : undefined`, 'undefined'],
      [`${payment}/quoting.ts`, `const earlier = await findEarlier(run, 'now');`, 'const earlier = undefined;'],
      [`${payment}/agreeing.ts`, `if (answer !== 'lapsed' && !(await isEarliest(run, txn))) return;`, '']],
    machines: true,
    seed: 1,
  },
  'no fence': {
    edits: [['test/simulation/memory-journal.ts', 'if (row?.fence !== claim.fence) throw', 'if (row === undefined) throw']],
    seed: 135,
  },
  'no question': {
    edits: [[`${payment}/agreeing.ts`, 'covered || (await run.deps.approve(approval))', 'true']],
    seed: 5,
  },
  'the answer to a creation is not compared': {
    edits: [[`${payment}/quoting.ts`, 'checkEcho(run.order, created);', ''], [`${payment}/agreeing.ts`, 'checkEcho(run.order, txn);', '']],
    mistake: 'another destination',
  },
  'resolved addresses are not compared': {
    edits: [['src/wallet/quote/echo.ts', `Object.entries({ address, lnurlAddress, lnurl })`, `Object.entries({ address, lnurl: lnurlAddress === undefined ? lnurl : undefined })`]],
    mistake: 'another resolved address',
  },
  'fees above the amount are covered by a standing yes': {
    edits: [[`${payment}/agreeing.ts`, `if (consent === 'standing') refuseUnusual(approval.unusual, quote);`, '']],
    mistake: 'fees above the amount',
  },
  'limits are not looked at when the money is let go': {
    edits: [[`${payment}/agreeing.ts`, 'checkSpend(deps.limits, quotedAmounts(order, { total, receives }), () => before.spent);', '']],
    seed: 532,
  },
  'a reference that comes from the invoice is not used': {
    edits: [[`${payment}/payment.ts`, `onceKey !== null && body.destReq.method === 'lightning' ? onceRef(onceKey) : undefined`, 'undefined']],
    machines: true,
    seed: 469,
  },
  'the invoice is not looked for beside a given reference': {
    edits: [[`${payment}/attempts.ts`, 'if (onceKey === null || onceRef(onceKey) === run.claim.intent.ref) return;', 'return;']],
    machines: true,
  },
  'a row that is dated ahead hides what is created until then': {
    edits: [[`${payment}/history.ts`, 'Math.min(newest, now)', 'newest']],
    machines: true,
  },
  'a reference that was used and is not seen yet is told as refused': {
    edits: [[`${payment}/references.ts`, `return new Failure('pending', message, { next: { do: 'resume', id: ref }, cause });`,
      `return new Failure('refused', message, { next: { do: 'resume', id: ref }, cause });`]],
    machines: true,
  },
  'a claim that was lost while closing is swallowed': {
    edits: [[`${payment}/run.ts`, 'if (trouble instanceof LostClaim) return trouble;', '']],
  },
  'figures below zero are not refused': {
    edits: [['src/wallet/quote/quote.ts', 'if (figure?.lt(0)) throw', 'if (false) throw']],
    mistake: 'a negative fee',
  },
  'what a conversion loses is not judged': {
    edits: [['src/wallet/quote/terms.ts', 'if (loss.gt(usualRateLoss)) found.push(lossText(loss));', '']],
    mistake: 'a bad rate',
    seed: 88,
  },
  'the highest loss that was agreed to is not looked at': {
    edits: [['src/wallet/quote/terms.ts', 'if (loss.lte(maxRateLoss)) return;', 'return;']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'the creation of a run that was killed was not sent': {
    edits: [[`${payment}/run.ts`, `mayBeSent: !isFirst && intent.step === 'intent' && !intent.closed`, 'mayBeSent: false']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'what an event reported is not looked at': {
    edits: [[`${payment}/run.ts`, 'if (!hasLapsed(txnState) || deps.reported === undefined) return false;', 'return false;']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'a rate of zero is a rate': {
    edits: [['src/wallet/quote/rates.ts', 'each.pair === pair && each.rate.gt(0)', 'each.pair === pair']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'amounts are not held against the rate': {
    edits: [['src/wallet/quote/quote.ts', 'if (!agrees) throw', 'if (false) throw']],
    mistake: 'a rate that its amounts contradict',
  },
  'an answer is compared only while it says quoted': {
    edits: [[`${payment}/quoting.ts`, 'checkEcho(run.order, created);', `if (created.txnState === 'quoted') checkEcho(run.order, created);`],
      [`${payment}/agreeing.ts`, 'checkEcho(run.order, txn);', `if (txn.txnState === 'quoted') checkEcho(run.order, txn);`]],
  },
  'names are not compared': {
    edits: [['src/wallet/quote/echo.ts', '?? kycDifference(asked, given)', '']],
    mistake: 'another name',
    seed: 70,
  },
  'account numbers under another name are not compared': {
    edits: [['src/wallet/quote/echo.ts', 'if (resolved !== undefined) return', 'if (false) return']],
    mistake: 'another account number',
    seed: 70,
  },
  'who bears the fees is not compared': {
    edits: [['src/wallet/quote/echo.ts', `if (typeof answered === 'boolean' && answered !== asked) return`, 'if (false) return']],
    mistake: 'fees taken otherwise',
    seed: 45,
  },
  'a gateway can refuse a confirmation': {
    edits: [['src/api/answer.ts', 'isOwnRefusal: isOwn(answer)', 'isOwnRefusal: status >= 400 && status < 500 && status !== 429']],
    seed: 2568,
  },
  'a page in place of the service can refuse a confirmation': {
    edits: [['src/api/answer.ts', 'isOwnRefusal: isOwn(answer)', 'isOwnRefusal: ownStatuses.has(status)']],
    seed: 3850,
  },
  'a refusal after a doubt is the end': {
    edits: [[`${payment}/confirm.ts`, 'isRefused = !inDoubt && isRefusal(error)', 'isRefused = isRefusal(error)'],
      [`${payment}/confirm.ts`, 'if (inDoubt || (isRefusal(error) && !isRefused) ||', 'if ((!isRefused && (inDoubt || isRefusal(error))) ||']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'leases are not renewed while a request is out': {
    edits: [[`${payment}/payment.ts`, 'return every(leaseMs / 3, () => void journal.renew(claim).catch(() => undefined));', 'return () => undefined;']],
    seed: 162,
  },
  'a quote that ran out is confirmed all the same': {
    edits: [[`${payment}/agreeing.ts`, 'return !(await isTakenBack(run, quote));', 'return true;']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'a clock that is moved forward opens a new day': {
    edits: [['src/wallet/limits/limits.ts', 'earliest: Math.min(machineNow, serviceNow)', 'earliest: machineNow']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'the list is read until its pages say that they are all': {
    edits: [['src/api/pages.ts', 'earlier = new Set(ids);', 'if (received >= (total ?? 0)) return;\n    earlier = new Set(ids);']],
    test: 'test/api/pages.test.ts',
  },
  'the present is read before the lock is there': {
    edits: [['src/store/database/sqlite-database.ts', `    transaction: (action, { lasts = false } = {}) =>
      inTurn(async () => {`, `    transaction: (action, { lasts = false } = {}) =>
      inTurn(async () => {
        at = now();`],
      ['src/store/database/sqlite-database.ts', '  const plain =', '  let at = 0;\n  const plain ='],
      ['src/store/database/sqlite-database.ts', 'Present ? now() +', 'Present ? at +'],
      ['src/store/database/sqlite-database.ts', 'now: async () => now(),', 'now: async () => at,']],
    test: 'test/store/journal/journal.test.ts',
  },
  'a refusal because of another confirmation is a refusal': {
    edits: [[`${payment}/confirm.ts`, ' && !saysUnderWay(error)', '']],
    machines: true,
    seed: 3566,
  },
  'what another process has taken over was not let go': {
    edits: [[`${payment}/payment.ts`, 'known = end.lost;', '']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'a payment in doubt that is cancelled had lapsed': {
    edits: [[`${payment}/cancel-quote.ts`, 'if (doubt !== undefined) throw doubt;', '']],
    test: 'test/wallet/payment/cancel-quote.test.ts',
  },
  'what an attempt in doubt let go is forgotten with the next attempt': {
    edits: [['src/store/journal/steps.ts', 'isLeft ?', 'false ?']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'an attempt in doubt is forgotten by the process that goes on with the next one': {
    edits: [[`${payment}/run.ts`, 'doubt: lastDoubt(intent),', 'doubt: undefined,']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'a confirmation that is answered with 429 was not carried out': {
    edits: [[`${payment}/confirm.ts`, 'const last = isUnseen && isOpen ? await look() : undefined;', 'const last = undefined;']],
    test: 'test/wallet/payment/payment.test.ts',
  },
  'a journal takes any move': {
    edits: [['src/store/journal/steps.ts', 'if (after.step !== before.step && !moves.some(isMove)) {', 'if (false) {']],
    test: 'test/store/journal/journal.test.ts',
  },
  'a journal takes what cannot be': {
    edits: [['src/store/journal/steps.ts', 'if (broken === undefined) return intent;', 'return intent;']],
    test: 'test/store/journal/journal.test.ts',
  },
};
