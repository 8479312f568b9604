import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The cursors of the pages before this one; the first page has none. */
    trail?: (string | null)[];
  }
}

/**
 * The way through the list of a page whose address holds `after`. Keyset paging knows only the next
 * page; each step of the history remembers the pages before.
 */
export function usePageTrail() {
  const navigate = useNavigate();
  const { after } = useSearch({ strict: false });
  const trail = useLocation({ select: (location) => location.state.trail }) ?? [];
  const previous = trail.at(-1);
  const go = (cursor: string | null | undefined, cursors: (string | null)[]) =>
    void navigate({
      to: '.',
      search: (now) => ({ ...now, after: cursor ?? undefined }),
      state: (now) => ({ ...now, trail: cursors }),
      resetScroll: false,
    });
  return {
    toFirst: () => go(null, []),
    toPrevious: previous === undefined ? undefined : () => go(previous, trail.slice(0, -1)),
    toNext: (cursor: string) => go(cursor, [...trail, after ?? null]),
  };
}
