import type { TopicMessageType } from '@/gql/operations';
import { type Choice, countIn, type Field, flagIn, namesIn, textIn, type Values } from './field';
import limits from './limits.json';
import type { OrderKind } from './order-kind';

const messageTypes: readonly TopicMessageType[] = [
  'NORMAL',
  'FIFO',
  'DELAY',
  'TRANSACTION',
  'MIXED',
  'UNSPECIFIED',
];
const messageTypeChoices: Choice[] = messageTypes.map((value) => ({
  value,
  word: `messageType.${value}`,
}));

function messageTypeIn(values: Values): TopicMessageType | null {
  return messageTypes.find((one) => one === values.messageType) ?? null;
}

const queueCount = { kind: 'count', low: 0, high: limits.queueCountMax } as const;
function messageType(none: string): Field {
  const choices = messageTypeChoices;
  return { name: 'messageType', kind: 'choice', choices, initial: null, none };
}

/** As the control plane has it where nothing is said. */
const queueCountDefault = 8;

export function createTopic(clusterName: string, groups: readonly string[]): OrderKind {
  const fields: Field[] = [
    { name: 'topicName', kind: 'name', lengthMax: limits.topicNameLengthMax },
    { name: 'brokerGroups', kind: 'names', known: groups },
    { name: 'readQueueCount', ...queueCount, initial: queueCountDefault },
    { name: 'writeQueueCount', ...queueCount, initial: queueCountDefault },
    messageType('field.notSaid'),
    { name: 'isReadable', kind: 'flag', initial: true },
    { name: 'isWritable', kind: 'flag', initial: true },
    { name: 'isOrdered', kind: 'flag', initial: false },
  ];
  return {
    word: 'createTopic',
    target: clusterName,
    fieldsOf: () => fields,
    planOf: (values) => ({
      createTopic: {
        clusterName,
        topicName: textIn(values, 'topicName'),
        brokerGroups: namesIn(values, 'brokerGroups'),
        readQueueCount: countIn(values, 'readQueueCount') ?? queueCountDefault,
        writeQueueCount: countIn(values, 'writeQueueCount') ?? queueCountDefault,
        isReadable: flagIn(values, 'isReadable') ?? true,
        isWritable: flagIn(values, 'isWritable') ?? true,
        isOrdered: flagIn(values, 'isOrdered') ?? false,
        messageType: messageTypeIn(values),
      },
    }),
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

export function changeTopic(topic: PlacedTopic): OrderKind {
  const { clusterName, name: topicName, placements } = topic;
  const common = <T>(pick: (placement: PlacedTopic['placements'][number]) => T) =>
    commonOf(placements.map(pick));
  const fields: Field[] = [
    {
      name: 'brokerGroups',
      kind: 'names',
      known: placements.map(({ groupName }) => groupName),
    },
    {
      name: 'readQueueCount',
      ...queueCount,
      initial: null,
      present: common(({ readQueueCount }) => readQueueCount),
    },
    {
      name: 'writeQueueCount',
      ...queueCount,
      initial: null,
      present: common(({ writeQueueCount }) => writeQueueCount),
    },
    messageType('field.asItIs'),
    { name: 'isReadable', kind: 'yesNo', present: common(({ readable }) => readable) },
    { name: 'isWritable', kind: 'yesNo', present: common(({ writable }) => writable) },
    { name: 'isOrdered', kind: 'yesNo', present: common(({ isOrdered }) => isOrdered) },
  ];
  return {
    word: 'changeTopic',
    target: topicName,
    fieldsOf: () => fields,
    planOf: (values) => ({
      changeTopic: {
        clusterName,
        topicName,
        brokerGroups: namesIn(values, 'brokerGroups'),
        readQueueCount: countIn(values, 'readQueueCount'),
        writeQueueCount: countIn(values, 'writeQueueCount'),
        isReadable: flagIn(values, 'isReadable'),
        isWritable: flagIn(values, 'isWritable'),
        isOrdered: flagIn(values, 'isOrdered'),
        messageType: messageTypeIn(values),
      },
    }),
  };
}

export function deleteTopic({ clusterName, name, placements }: PlacedTopic): OrderKind {
  const fields: Field[] = [
    {
      name: 'brokerGroups',
      kind: 'names',
      known: placements.map(({ groupName }) => groupName),
    },
    { name: 'onlyEmpty', kind: 'flag', initial: true },
  ];
  return {
    word: 'deleteTopic',
    target: name,
    fieldsOf: () => fields,
    planOf: (values) => ({
      deleteTopic: {
        clusterName,
        topicName: name,
        brokerGroups: namesIn(values, 'brokerGroups'),
        onlyEmpty: flagIn(values, 'onlyEmpty') ?? true,
      },
    }),
  };
}
