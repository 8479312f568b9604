import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { FindingsDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { heeding } from '@/lib/live/heeds';
import type { FindingState } from './finding';

export const findingKeys = {
  list: (clusterName: string, state: FindingState, after: string | undefined) =>
    [clusterScope, 'findings', clusterName, state, after] as const,
};

export const findingPageSize = 50;

/** All that opens or closes one is an event. */
export function findingsOf(clusterName: string, state: FindingState, after: string | undefined) {
  const isOpen = state === 'all' ? null : state === 'open';
  return queryOptions({
    queryKey: findingKeys.list(clusterName, state, after),
    queryFn: ({ signal }) =>
      ask(
        FindingsDocument,
        { clusterName, first: findingPageSize, after: after ?? null, isOpen },
        signal,
      ),
    placeholderData: keepPreviousData,
    meta: heeding(['finding'], { clusterName }),
  });
}
