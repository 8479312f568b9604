import type { SortingState } from '@tanstack/react-table';

/** A table's order as it stands in the address: the column, with a minus when descending. */
export function sortingOf(text: string | undefined): SortingState {
  if (!text) return [];
  return text.startsWith('-') ? [{ id: text.slice(1), desc: true }] : [{ id: text, desc: false }];
}

export function sortTextOf(sorting: SortingState): string | undefined {
  const first = sorting[0];
  if (!first) return undefined;
  return first.desc ? `-${first.id}` : first.id;
}
