// The style of the payment page: one card for light and dark screens, including narrow phones.

export const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f1; --card: #fff; --ink: #1d2420; --soft: #5c675f; --line: #dfe3dd;
  --good: #1d7a4c; --accent: #1c5d99; --accent-ink: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121513; --card: #1b201d; --ink: #e9eee9; --soft: #9aa69d; --line: #2e3631;
    --good: #5cc48d; --accent: #8fc1f0; --accent-ink: #0c1a27;
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  min-height: 100vh; min-height: 100dvh; padding: 1rem;
  display: grid; grid-template-columns: minmax(0, 25rem); justify-content: center;
  align-items: center;
  background: var(--ground); color: var(--ink);
  font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main {
  padding: 1.75rem clamp(1rem, 6vw, 2rem) 1.5rem; text-align: center;
  background: var(--card); border: 1px solid var(--line); border-radius: 1.25rem;
}
.payee, .sats, .status p, form p, footer p { color: var(--soft); }
.payee { overflow-wrap: anywhere; }
.payee strong { color: var(--ink); font-weight: 600; }
.amount {
  margin-top: .15rem; font-size: clamp(1.35rem, 7vw, 1.8rem); font-weight: 650; line-height: 1.2;
  font-variant-numeric: tabular-nums; letter-spacing: -.01em;
}
.sats { font-variant-numeric: tabular-nums; }
.request { margin-top: 1.25rem; }
.qr {
  display: block; margin: 0 auto; max-width: 18rem; border-radius: .75rem;
  overflow: hidden; background: #fff;
}
.qr svg { display: block; width: 100%; height: auto; }
@media (prefers-color-scheme: light) { .qr { border: 1px solid var(--line); } }
.code {
  margin-top: .9rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .75rem;
}
.code code {
  display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: left;
  font: .85rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--soft);
  -webkit-user-select: all; user-select: all;
}
.pay {
  width: 100%; margin-bottom: .6rem; padding: .7rem; border: 0; border-radius: .55rem;
  cursor: pointer;
  background: var(--accent); color: var(--accent-ink); font: inherit; font-weight: 600;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.status { margin-top: 1.25rem; }
.status h2 { font-size: 1.05rem; font-weight: 600; }
.status p { font-size: .95rem; }
.paid h2 { color: var(--good); font-size: 1.3rem; }
.tick {
  width: 5rem; height: 5rem; margin: .25rem 0 .5rem; fill: none; stroke: var(--good);
  stroke-width: 2.5;
}
.tick path { stroke-width: 3.5; stroke-linecap: round; stroke-linejoin: round; }
.left { margin-top: .9rem; font-variant-numeric: tabular-nums; font-size: .95rem; }
form { margin-top: 1.1rem; font-size: .82rem; }
footer {
  margin-top: 1.4rem; padding-top: 1.1rem; border-top: 1px solid var(--line);
  font-size: .82rem;
}
footer .id { margin-top: .4rem; font-size: .75rem; overflow-wrap: anywhere; }
.expired .amount, .closed .amount { color: var(--soft); text-decoration: line-through; }
`;
