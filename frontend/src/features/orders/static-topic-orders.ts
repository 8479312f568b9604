import { plainChoices } from './described-field';
import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

export function createStaticTopic(clusterName: string, groups: readonly string[]): OrderKind {
  return orderForm('createStaticTopic', {
    target: clusterName,
    given: { clusterName },
    known: {
      brokerGroups: { names: groups },
      offsetMode: { words: (value) => `segmentOffsets.${value}` },
    },
  });
}

export type StaticTopic = {
  clusterName: string;
  name: string;
  queues: readonly { globalId: number }[];
};

export function moveQueues(topic: StaticTopic, groups: readonly string[]): OrderKind {
  const { clusterName, name: topicName, queues } = topic;
  return orderForm('moveQueues', {
    target: topicName,
    given: { clusterName, topicName },
    leftOut: ['leaving', 'onto', 'targets'],
    known: {
      destination: { choices: plainChoices(groups), isRequired: true },
      queues: { names: queues.map(({ globalId }) => String(globalId)) },
    },
  });
}

/** The number of queues begins at what it is now. */
export function expandStaticTopic(topic: StaticTopic, groups: readonly string[]): OrderKind {
  const { clusterName, name: topicName, queues } = topic;
  return orderForm('expandStaticTopic', {
    target: topicName,
    given: { clusterName, topicName },
    known: { queueCount: { initial: queues.length }, brokerGroups: { names: groups } },
  });
}

export function deleteStaticTopic({ clusterName, name: topicName }: StaticTopic): OrderKind {
  return orderForm('deleteStaticTopic', { target: topicName, given: { clusterName, topicName } });
}
