/** How the connection of a call stands. */
export type Phase =
  | 'connecting'
  | 'live'
  | 'reconnecting'
  /** The first connect did not work; the page tries again. */
  | 'unreachable';
