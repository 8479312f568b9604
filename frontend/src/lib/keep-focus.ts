import { useEffect } from 'react';

let hasBegun = false;

/** Moves the focus to the top of the page when what had it is gone, so that Tab goes on there. */
function keepFocus(): void {
  if (document.activeElement !== document.body) return;
  const main = document.getElementById('main');
  main?.focus({ preventScroll: true });
  main?.scrollTo({ top: 0 });
}

/**
 * Keeps the focus where the reader is when a part of the page is replaced, each time `part` is
 * another. The first page of all is left alone: there Tab begins with the way past the rail.
 */
export function useKeptFocus(part: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another part is what the effect is for
  useEffect(() => {
    if (hasBegun) keepFocus();
    hasBegun = true;
  }, [part]);
}
