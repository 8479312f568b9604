import { type Known, plainChoices } from './described-field';
import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';
import type { PlacedTopic } from './topic-orders';

const common: Record<string, Known> = {
  position: { words: (value: string) => `offsetPosition.${value}` },
  timestampMs: { as: 'time' },
  mode: { words: (value: string) => `offsetMode.${value}` },
};
/** New offsets queue by queue are for what takes a reset back. */
const leftOut = ['offsets'];

/**
 * Resets where a group goes on reading a topic; the plan shows each queue of it. The queues of a
 * static topic are its logical ones.
 */
export function resetOffsets(
  topic: PlacedTopic,
  consumerGroupName = '',
  logicalCount: number | null = null,
): OrderKind {
  const { clusterName, name: topicName, placements } = topic;
  const queueCount =
    logicalCount ?? Math.max(0, ...placements.map(({ readQueueCount }) => readQueueCount));
  return orderForm('resetOffsets', {
    target: topicName,
    given: { clusterName, topicName },
    leftOut,
    known: {
      ...common,
      consumerGroupName: { initial: consumerGroupName },
      brokerGroups: { names: placements.map((placement) => placement.brokerGroupName) },
      queueIds: { names: Array.from({ length: queueCount }, (_, id) => String(id)) },
    },
  });
}

type ReadingGroup = { name: string; topics: readonly string[]; brokerGroups: readonly string[] };

/** Resets where a group goes on reading one of its topics. */
export function resetGroup(clusterName: string, group: ReadingGroup): OrderKind {
  const { name: consumerGroupName, topics, brokerGroups } = group;
  const [first = ''] = topics;
  return orderForm('resetOffsets', {
    word: 'resetGroup',
    target: consumerGroupName,
    given: { clusterName, consumerGroupName },
    leftOut,
    known: {
      ...common,
      topicName: { choices: plainChoices(topics), initial: first },
      brokerGroups: { names: brokerGroups },
    },
  });
}
