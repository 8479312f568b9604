import { partialMatchKey, type QueryKey } from '@tanstack/react-query';

/**
 * Keeps the answer before on the page while the next is under way, if both are within one scope: the
 * next page or another filter of a list, but never what belongs to another cluster or thing.
 */
export function keepWithin(scope: QueryKey) {
  return <T>(answer: T | undefined, asked: { queryKey: QueryKey } | undefined): T | undefined =>
    asked && partialMatchKey(asked.queryKey, scope) ? answer : undefined;
}
