import { useEffect } from 'react';

let hasBegun = false;

/** Moves the focus to the page when what had it is gone, so that Tab goes on there. */
function keepFocus(): void {
  if (document.activeElement === document.body) {
    document.getElementById('main')?.focus({ preventScroll: true });
  }
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
