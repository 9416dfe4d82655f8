// Types of the part of undici that is imported alone, because the whole of it takes longer to load.
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
