import type { BrokerTimersFieldsFragment, TimersQuery } from '@/gql/operations';
import type { Answers } from './control-plane';

/** A master with messages for two hours, of two topics. */
export function someTimers(
  change: Partial<BrokerTimersFieldsFragment> = {},
): BrokerTimersFieldsFragment {
  return {
    clusterName: 'regent',
    brokerGroupName: 'broker-a',
    brokerAddress: '127.0.0.1:10911',
    waitingCount: '1203',
    overdueCount: '0',
    heldCount: '0',
    rolledCount: '0',
    untakenCount: '0',
    behindMs: '40',
    hindrance: null,
    firstDueAt: '2026-11-29T10:00:05Z',
    lastDueAt: '2026-11-29T12:30:00Z',
    topicCount: 2,
    minutes: [{ startsAt: '2026-11-29T10:00:00Z', waitingCount: '3' }],
    hours: [
      { startsAt: '2026-11-29T10:00:00Z', waitingCount: '1200' },
      { startsAt: '2026-11-29T12:00:00Z', waitingCount: '3' },
    ],
    topics: [
      { topic: 'orders', waitingCount: '1199' },
      { topic: 'bills', waitingCount: '4' },
    ],
    ...change,
  };
}

export function timersPage(
  nodes: BrokerTimersFieldsFragment[],
  unknown: TimersQuery['timers']['unknown'] = [],
): TimersQuery {
  return {
    timers: {
      observedAt: new Date().toISOString(),
      totalCount: nodes.length,
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes,
      unknown,
    },
  };
}

export function timerAnswers(): Answers {
  return { Timers: () => timersPage([someTimers()]) };
}
