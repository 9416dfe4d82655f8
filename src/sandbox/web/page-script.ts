// The payment page's script: polls the state, counts down, copies and pays.

export const pageScript = `
'use strict';
const body = document.body;
const find = (name) => document.querySelector(name);
const everyMs = 1000;
const offlineMs = 4000;
const ended = ['paid', 'expired', 'closed'];
let state = {
  phase: body.dataset.phase,
  expiresAt: Number(body.dataset.expires),
  now: Number(body.dataset.now),
  frozen: body.dataset.frozen === 'true',
};
let heardAt = performance.now();
let span = Math.max(1, state.expiresAt - state.now);
let timer;

const left = () => Math.max(0, state.expiresAt - state.now - (state.frozen ? 0 : performance.now() - heardAt));
const two = (n) => String(n).padStart(2, '0');

function clock(ms) {
  const seconds = Math.ceil(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? hours + ':' + two(minutes) + ':' + two(seconds % 60) : minutes + ':' + two(seconds % 60);
}

function draw() {
  body.dataset.phase = state.phase;
  span = Math.max(span, state.expiresAt - state.now);
  find('.left').textContent = clock(left()) + ' left';
  find('.bar b').style.width = (100 * left() / span) + '%';
}

function heard(next) {
  const opened = state.phase === 'unopened' && next.phase === 'waiting';
  state = next;
  heardAt = performance.now();
  find('.offline').hidden = true;
  // The QR code exists only after a reload.
  if (opened) location.reload();
  draw();
}

async function ask() {
  clearTimeout(timer);
  let next = everyMs;
  try {
    const answer = await fetch(location.pathname + '/state', { cache: 'no-store' });
    if (!answer.ok) throw new Error(answer.status);
    heard(await answer.json());
  } catch {
    find('.offline').hidden = false;
    next = offlineMs;
  }
  if (!ended.includes(state.phase)) timer = setTimeout(ask, document.hidden ? 10 * next : next);
}

find('.pay').addEventListener('click', async (event) => {
  event.target.disabled = true;
  try {
    await fetch(location.pathname + '/pay', { method: 'POST', headers: { 'content-type': 'application/json' } });
  } finally {
    event.target.disabled = false;
    ask();
  }
});

find('.copy')?.addEventListener('click', async ({ target }) => {
  const text = find('.code code');
  const label = target.textContent;
  try {
    await navigator.clipboard.writeText(text.textContent);
    target.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(text);
    target.textContent = 'Selected';
  }
  setTimeout(() => { target.textContent = label; }, 1500);
});

document.addEventListener('visibilitychange', () => { if (!document.hidden && !ended.includes(state.phase)) ask(); });
setInterval(draw, 250);
draw();
if (!ended.includes(state.phase)) timer = setTimeout(ask, everyMs);
`;
