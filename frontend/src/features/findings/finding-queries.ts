import { queryOptions } from '@tanstack/react-query';
import { FindingsDocument, OpenFindingsDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';
import type { FindingState } from './finding';

export const findingKeys = {
  of: (clusterName: string) => [clusterScope, 'findings', clusterName] as const,
  list: (clusterName: string, state: FindingState, after: string | undefined) =>
    [...findingKeys.of(clusterName), state, after] as const,
  open: (clusterName: string) => [...findingKeys.of(clusterName), 'count'] as const,
};

export const findingPageSize = 50;
/** The worst is looked for among so many open findings; further ones are only counted. */
const openFindingsMax = 100;

/** Every opening and closing of a finding is an event. */
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
    placeholderData: keepWithin(findingKeys.of(clusterName)),
    refetchInterval: paced(sampleIntervalMs),
    meta: heeding(['finding'], { clusterName }),
  });
}

/** How many findings are open now, and how bad they are: every page shows it. */
export function openFindings(clusterName: string) {
  return queryOptions({
    queryKey: findingKeys.open(clusterName),
    queryFn: ({ signal }) =>
      ask(OpenFindingsDocument, { clusterName, first: openFindingsMax }, signal),
    refetchInterval: paced(sampleIntervalMs),
    meta: heeding(['finding'], { clusterName }),
  });
}
