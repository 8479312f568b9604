import { useQuery } from '@tanstack/react-query';
import { useNow } from '@/lib/use-now';
import { isUnchanged, type Operation } from './operation';
import { operationFactsOf } from './operation-queries';
import { isVoid, type Standing, standingOf } from './standing';

export type Comparison = { atMs: number; isBusy: boolean; again: () => void };

/** Watches where an operation stands; of a plan also whether its facts are still as they were. */
export function useStanding(operation: Operation | undefined): {
  standing: Standing | undefined;
  isVoided: boolean;
  /** The comparison of a plan's facts with those of now; undefined for what is no plan any more. */
  comparison: Comparison | undefined;
} {
  const nowMs = useNow();
  const isPlanned = isUnchanged(operation?.state);
  const facts = useQuery(operationFactsOf(operation));
  if (operation === undefined) {
    return { standing: undefined, isVoided: false, comparison: undefined };
  }
  const now = isPlanned
    ? {
        moved: facts.data?.data.operation.movedFact ?? null,
        whyUnknown: facts.error?.message ?? facts.data?.problems[0]?.message,
      }
    : { moved: null };
  return {
    standing: standingOf(operation, now, nowMs),
    isVoided: isVoid(operation, now, nowMs),
    comparison: isPlanned
      ? {
          atMs: facts.dataUpdatedAt,
          isBusy: facts.isFetching,
          again: () => void facts.refetch(),
        }
      : undefined,
  };
}
