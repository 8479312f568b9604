import { fieldsOf, planOf } from './order-fields';
import type { OrderKind } from './order-kind';

export function createTopic(clusterName: string, groups: readonly string[]): OrderKind {
  const fields = fieldsOf('createTopic', ['clusterName'], { brokerGroups: { names: groups } });
  return {
    word: 'createTopic',
    target: clusterName,
    fieldsOf: () => fields,
    planOf: (values) => planOf('createTopic', { clusterName }, fields, values),
  };
}

export type PlacedTopic = {
  clusterName: string;
  name: string;
  placements: readonly {
    groupName: string;
    readQueueCount: number;
    writeQueueCount: number;
    readable: boolean;
    writable: boolean;
    isOrdered: boolean;
  }[];
};

/** What all placements of a topic have in common; null where they differ. */
export function commonOf<T>(values: readonly T[]): T | null {
  const [first] = values;
  return first !== undefined && values.every((value) => value === first) ? first : null;
}

export function changeTopic({ clusterName, name: topicName, placements }: PlacedTopic): OrderKind {
  const present = <T extends boolean | number>(
    pick: (placement: PlacedTopic['placements'][number]) => T,
  ) => ({ present: commonOf(placements.map(pick)) });
  const fields = fieldsOf('changeTopic', ['clusterName', 'topicName'], {
    brokerGroups: { names: placements.map(({ groupName }) => groupName) },
    readQueueCount: present(({ readQueueCount }) => readQueueCount),
    writeQueueCount: present(({ writeQueueCount }) => writeQueueCount),
    isReadable: present(({ readable }) => readable),
    isWritable: present(({ writable }) => writable),
    isOrdered: present(({ isOrdered }) => isOrdered),
  });
  return {
    word: 'changeTopic',
    target: topicName,
    fieldsOf: () => fields,
    planOf: (values) => planOf('changeTopic', { clusterName, topicName }, fields, values),
  };
}

export function deleteTopic({ clusterName, name: topicName, placements }: PlacedTopic): OrderKind {
  const fields = fieldsOf('deleteTopic', ['clusterName', 'topicName'], {
    brokerGroups: { names: placements.map(({ groupName }) => groupName) },
    onlyEmpty: { initial: true },
  });
  return {
    word: 'deleteTopic',
    target: topicName,
    fieldsOf: () => fields,
    planOf: (values) => planOf('deleteTopic', { clusterName, topicName }, fields, values),
  };
}
