import { useQuery } from '@tanstack/react-query';
import { useNow } from '@/lib/use-now';
import type { Operation } from './operation';
import { operationFactsOf } from './operation-queries';
import { isVoid, type Standing, standingOf } from './standing';

/** Watches where an operation stands; of a plan also whether its facts are still as they were. */
export function useStanding(operation: Operation | undefined): {
  standing: Standing | undefined;
  isVoided: boolean;
} {
  const nowMs = useNow();
  const isPlanned = operation?.state === 'PLANNED';
  const facts = useQuery({ ...operationFactsOf(operation?.id ?? ''), enabled: isPlanned });
  if (operation === undefined) return { standing: undefined, isVoided: false };
  const now = isPlanned
    ? {
        moved: facts.data?.data.operation.movedFact ?? null,
        whyUnknown: facts.error?.message ?? facts.data?.problems[0]?.message,
      }
    : { moved: null };
  return {
    standing: standingOf(operation, now, nowMs),
    isVoided: isVoid(operation, now, nowMs),
  };
}
