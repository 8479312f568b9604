import type { HistoryState } from '@tanstack/react-router';

/**
 * How to navigate where the page stays the same and only shows something else. The trail through
 * the pages of a list is kept, the history gains no step, and the page does not scroll.
 */
export const withinPage = {
  state: (now: HistoryState) => now,
  replace: true,
  resetScroll: false,
};
