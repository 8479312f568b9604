import { plainChoices } from './described-field';
import { type Field, textIn, type Values } from './field';
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

/** A static topic, and how many of its logical queues each broker group leads. */
export type SharedTopic = {
  name: string;
  shares: readonly { brokerGroupName: string; ledCount: number }[];
};

const ways = ['everything', 'leaving', 'onto'] as const;
const way: Field = {
  name: 'way',
  kind: 'choice',
  choices: ways.map((value) => ({ value, words: { key: `moveWay.${value}` } })),
  initial: 'everything',
  absence: null,
};

/**
 * Moves the queues of one static topic, or of all, off a broker group. Or it gives the group its
 * even share of the queues of one static topic.
 */
export function moveQueuesOfGroup(
  { clusterName, brokerGroupName }: { clusterName: string; brokerGroupName: string },
  topics: readonly SharedTopic[],
): OrderKind {
  const leads = ({ shares }: SharedTopic) =>
    shares.some((one) => one.brokerGroupName === brokerGroupName && one.ledCount > 0);
  const formOf = (values: Values) => {
    const chosen = textIn(values, way.name) || 'everything';
    const shared = { word: 'moveQueuesOfGroup', target: brokerGroupName, own: [way] };
    if (chosen === 'everything') {
      return orderForm('evacuateBrokerGroup', {
        ...shared,
        given: { clusterName, brokerGroupName },
      });
    }
    const isOnto = chosen === 'onto';
    const names = (isOnto ? topics : topics.filter(leads)).map(({ name }) => name);
    return orderForm('moveQueues', {
      ...shared,
      given: { clusterName, [chosen]: brokerGroupName },
      leftOut: ['destination', 'queues', 'leaving', 'onto', 'targets'],
      known: { topicName: { choices: plainChoices(names) } },
    });
  };
  return {
    ...formOf({}),
    fieldsOf: (values) => formOf(values).fieldsOf(values),
    planOf: (values) => formOf(values).planOf(values),
  };
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

/** Removes the logical queues with the highest numbers. */
export function shrinkStaticTopic({
  clusterName,
  name: topicName,
  queues,
}: StaticTopic): OrderKind {
  return orderForm('shrinkStaticTopic', {
    target: topicName,
    given: { clusterName, topicName },
    known: { queueCount: { initial: Math.max(1, queues.length - 1) } },
  });
}

/** Makes an ordinary topic a static one. */
export function convertTopic(clusterName: string, topicName: string): OrderKind {
  return orderForm('convertTopic', {
    target: topicName,
    given: { clusterName, topicName },
    known: { offsetMode: { words: (value) => `segmentOffsets.${value}` } },
  });
}

/** Gives a static topic the mapping of a file, or that of its brokers. */
export function importStaticTopic(clusterName: string): OrderKind {
  return orderForm('importStaticTopic', {
    target: clusterName,
    given: { clusterName },
    known: { document: { as: 'lines' } },
  });
}

export function deleteStaticTopic({ clusterName, name: topicName }: StaticTopic): OrderKind {
  return orderForm('deleteStaticTopic', { target: topicName, given: { clusterName, topicName } });
}
