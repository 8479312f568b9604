import { useEffect } from 'react';

const pauseMaxMs = 900;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

/** Whether a key is meant for something else: the browser, a field, or the dialog over the page. */
function isMeantElsewhere({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || isTyping(target)) return true;
  return document.querySelector('[aria-modal="true"]') !== null;
}

/** Runs the action of a key, or of two keys in a row ("g t"), unless someone types or is asked. */
export function useKeySequence(actions: Map<string, () => void>): void {
  useEffect(() => {
    let first = '';
    let firstAt = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      if (isMeantElsewhere(event)) return;
      const inTime = first !== '' && event.timeStamp - firstAt < pauseMaxMs;
      const action =
        (inTime ? actions.get(`${first} ${event.key}`) : undefined) ?? actions.get(event.key);
      first = action ? '' : event.key;
      firstAt = event.timeStamp;
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [actions]);
}

/** Leads to what can be ordered on a page, where it has such a place. */
export function focusAct(): void {
  document.querySelector<HTMLElement>('[data-act]')?.focus();
}

/** Puts the cursor into the page's filter, where it has one. */
export function focusFilter(): void {
  document.querySelector<HTMLInputElement>('input[data-filter]')?.focus();
}
