import { queryOptions } from '@tanstack/react-query';
import { type BrokerTimersFieldsFragment, TimersDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';

export type BrokerTimers = BrokerTimersFieldsFragment;
export type DueBy = 'hours' | 'minutes';

export type TimerChoice = { clusterName: string; topic: string | undefined };

export const timerPageSize = 20;
/** What waits is known to brokers only, and each list asks all masters. */
export const timersIntervalMs = 10_000;

const keys = {
  of: (clusterName: string) => [clusterScope, 'timers', clusterName] as const,
};

export function timersOf({ clusterName, topic }: TimerChoice, after: string | undefined) {
  return queryOptions({
    queryKey: [...keys.of(clusterName), topic, after],
    queryFn: ({ signal }) =>
      ask(
        TimersDocument,
        {
          chosen: { clusterName, topic: topic ?? null },
          first: timerPageSize,
          after: after ?? null,
        },
        signal,
      ),
    placeholderData: keepWithin(keys.of(clusterName)),
    refetchInterval: timersIntervalMs,
    meta: heeding(['step', 'broker'], {
      clusterName,
      when: ({ kind }) => !kind.startsWith('step.') || kind === 'step.done',
    }),
  });
}
