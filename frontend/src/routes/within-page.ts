import type { HistoryState } from '@tanstack/react-router';

/**
 * How to go where the page stays the same and only shows something else: the way back through the
 * pages of a list stays known, the history gains no step, and what is looked at stays in sight.
 */
export const withinPage = {
  state: (now: HistoryState) => now,
  replace: true,
  resetScroll: false,
};
