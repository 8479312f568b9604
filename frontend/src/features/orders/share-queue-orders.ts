import { plainChoices } from './described-field';
import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

/** The share queue of an order, as its parameters name it. */
export type GivenQueue = {
  clusterName: string;
  brokerGroupName: string;
  consumerGroupName: string;
  topicName: string;
  queueId: number;
};

/** Lets a group go on from an offset of a share queue; the plan says what is skipped or repeated. */
export function resetShareQueue(given: GivenQueue, position: string): OrderKind {
  return orderForm('resetShareQueue', {
    target: `${given.topicName}/${given.queueId}`,
    given: { ...given },
    known: { offset: { initial: position } },
  });
}

/** Hands a share queue in SHARED mode over to another member of its broker group. */
export function handOverShareQueue(given: GivenQueue): OrderKind {
  return orderForm('handOverShareQueues', {
    target: `${given.topicName}/${given.queueId}`,
    given: { ...given },
    leftOut: ['ownerId'],
  });
}

/** Sets how a group receives one of its topics. */
export function setConsumeMode(
  clusterName: string,
  group: { name: string; topics: readonly string[]; brokerGroups: readonly string[] },
): OrderKind {
  const [first = ''] = group.topics;
  return orderForm('setConsumeMode', {
    target: group.name,
    given: { clusterName, consumerGroupName: group.name },
    // What takes a change back names the mode of each broker group.
    leftOut: ['modes'],
    known: {
      topicName: { choices: plainChoices(group.topics), initial: first },
      mode: { initial: 'POP', words: (value) => `consumeMode.${value}`, isRequired: true },
      brokerGroups: { names: group.brokerGroups },
    },
  });
}
