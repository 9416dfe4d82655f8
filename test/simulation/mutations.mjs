// Mistakes that a payment machine can have, each undoing one of its rules, as changes of the source: the simulation has to
// notice each. A change whose place is not found any more is an error.
const payment = 'src/wallet/payment';

/**
 * @typedef {readonly [file: string, find: string, replace: string]} Edit
 * @type {Readonly<Record<string, { edits: readonly Edit[], machines?: boolean }>>}
 */
export const mutations = {
  'no journal write before the confirmation': {
    edits: [[`${payment}/agreeing.ts`, 'const { deps, order, claim } = run;', `const { deps, order, claim } = run;
      run.claim = { ...claim, intent: { ...claim.intent, step: 'confirming', approvedAt: deps.now() } };
      return;`]],
  },
  'another attempt after a lost confirmation': {
    edits: [[`${payment}/settling.ts`, `if (error instanceof Failure && error.kind === 'pending') throw error;`,
      `if (error instanceof Failure && error.kind === 'pending') return void (await nextAttempt(run));`]],
  },
  'another attempt after a confirmed payment was called expired': {
    edits: [[`${payment}/settling.ts`, 'if (hasLapsed(run.txn.txnState)) await endDoubt(run);',
      'if (hasLapsed(run.txn.txnState)) return void (await nextAttempt(run));']],
  },
  'a confirmed payment that was called expired is over': {
    edits: [[`${payment}/settling.ts`, 'if (hasLapsed(run.txn.txnState)) await endDoubt(run);', ''],
      [`${payment}/settling.ts`, 'isFinal(txnState) && !hasLapsed(txnState) ?', 'isFinal(txnState) ?'],
      [`${payment}/settling.ts`, 'if (hasLapsed(txnState) && wasConfirmed(run.claim.intent)) throw inDoubt', 'if (false) throw inDoubt']],
  },
  'the earliest transaction of a reference is not looked for before the confirmation': {
    edits: [[`${payment}/agreeing.ts`, 'if (!(await isEarliest(run, approval.txn))) return;', '']],
    machines: true,
  },
  'the reference is not looked for': {
    edits: [[`${payment}/quoting.ts`, `mayBeThere ? await findEarlier(run, 'if-old') : undefined`, 'undefined'],
      [`${payment}/quoting.ts`, `const earlier = await findEarlier(run, 'now');`, 'const earlier = undefined;'],
      [`${payment}/agreeing.ts`, 'if (!(await isEarliest(run, approval.txn))) return;', '']],
    machines: true,
  },
  'no fence': {
    edits: [['test/simulation/memory-journal.ts', 'if (row?.fence !== claim.fence) throw', 'if (row === undefined) throw']],
  },
  'no question': {
    edits: [[`${payment}/agreeing.ts`, 'covered || (await run.deps.approve(approval))', 'true']],
  },
  'the answer to a creation is not compared': {
    edits: [[`${payment}/quoting.ts`, 'checkEcho(run.order, created);', ''], [`${payment}/agreeing.ts`, 'checkEcho(run.order, txn);', '']],
  },
  'resolved addresses are not compared': {
    edits: [['src/wallet/quote/echo.ts', `Object.entries({ address, lnurlAddress, lnurl })`, `Object.entries({ address, lnurl: lnurlAddress === undefined ? lnurl : undefined })`]],
  },
  'fees above the amount are covered by a standing yes': {
    edits: [[`${payment}/agreeing.ts`, `if (consent === 'standing') refuseUnusual(approval.unusual, quote);`, '']],
  },
  'limits are not looked at when the money is let go': {
    edits: [[`${payment}/agreeing.ts`, 'checkSpend(deps.limits, quotedAmounts(order, { total, receives }), () => before.spent);', '']],
  },
};
