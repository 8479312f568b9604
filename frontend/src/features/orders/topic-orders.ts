import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

const messageType = { words: (value: string) => `messageType.${value}` };

const shareMode = { words: (value: string) => `shareMode.${value}` };

export function createTopic(clusterName: string, groups: readonly string[]): OrderKind {
  return orderForm('createTopic', {
    target: clusterName,
    given: { clusterName },
    known: { brokerGroups: { names: groups }, messageType, shareMode },
  });
}

export type PlacedTopic = {
  clusterName: string;
  name: string;
  placements: readonly {
    brokerGroupName: string;
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
  return orderForm('changeTopic', {
    target: topicName,
    given: { clusterName, topicName },
    known: {
      brokerGroups: { names: placements.map(({ brokerGroupName }) => brokerGroupName) },
      readQueueCount: present(({ readQueueCount }) => readQueueCount),
      writeQueueCount: present(({ writeQueueCount }) => writeQueueCount),
      isReadable: present(({ readable }) => readable),
      isWritable: present(({ writable }) => writable),
      isOrdered: present(({ isOrdered }) => isOrdered),
      messageType,
      shareMode,
    },
  });
}

export function deleteTopic({ clusterName, name: topicName, placements }: PlacedTopic): OrderKind {
  return orderForm('deleteTopic', {
    target: topicName,
    given: { clusterName, topicName },
    known: {
      brokerGroups: { names: placements.map(({ brokerGroupName }) => brokerGroupName) },
      onlyEmpty: { initial: true },
    },
  });
}
