import { useEffect } from 'react';

let lastFocused: Element | null = null;

if (typeof document !== 'undefined') {
  document.addEventListener('focusin', ({ target }) => {
    lastFocused = target instanceof Element ? target : null;
  });
}

/** Whether what had the focus was taken off the page, so that Tab would begin all over. */
function isFocusLost(): boolean {
  return (
    document.activeElement === document.body && lastFocused !== null && !lastFocused.isConnected
  );
}

/**
 * Moves a focus that was lost to the top of the page, each time `part` is another: a page that was
 * arrived at, or a part of one that has taken another's place.
 */
export function useKeptFocus(part: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another part is what the effect is for
  useEffect(() => {
    if (!isFocusLost()) return;
    const main = document.getElementById('main');
    main?.focus({ preventScroll: true });
    main?.scrollTo({ top: 0 });
  }, [part]);
}
