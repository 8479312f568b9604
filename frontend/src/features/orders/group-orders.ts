import { countIn, type Field, flagIn, namesIn, textIn } from './field';
import limits from './limits.json';
import type { OrderKind } from './order-kind';
import { commonOf } from './topic-orders';

const flags = {
  consumeEnabled: true,
  broadcastAllowed: true,
  consumeFromMinEnabled: true,
  isOrdered: false,
  notifiesMembers: true,
} as const;
const flagNames = Object.keys(flags) as (keyof typeof flags)[];

const counts = {
  retryCountMax: { low: limits.retryCountMin, high: limits.retryCountMax, initial: 16 },
  retryQueueCount: { low: 0, high: limits.retryQueueCountMax, initial: 1 },
  consumeTimeoutMinutes: {
    low: limits.consumeTimeoutMinutesMin,
    high: limits.consumeTimeoutMinutesMax,
    initial: 15,
  },
} as const;
const countNames = Object.keys(counts) as (keyof typeof counts)[];

function nameField(initial = ''): Field {
  return { name: 'groupName', kind: 'name', lengthMax: limits.groupNameLengthMax, initial };
}

function placesField(groups: readonly string[]): Field {
  return { name: 'brokerGroups', kind: 'names', known: groups };
}

export function createGroup(clusterName: string, groups: readonly string[]): OrderKind {
  const fields: Field[] = [
    nameField(),
    placesField(groups),
    ...countNames.map((name): Field => ({ name, kind: 'count', ...counts[name] })),
    ...flagNames.map((name): Field => ({ name, kind: 'flag', initial: flags[name] })),
  ];
  return {
    word: 'createGroup',
    target: clusterName,
    fieldsOf: () => fields,
    planOf: (values) => ({
      createConsumerGroup: {
        clusterName,
        groupName: textIn(values, 'groupName'),
        brokerGroups: namesIn(values, 'brokerGroups'),
        retryCountMax: countIn(values, 'retryCountMax') ?? counts.retryCountMax.initial,
        retryQueueCount: countIn(values, 'retryQueueCount') ?? counts.retryQueueCount.initial,
        consumeTimeoutMinutes:
          countIn(values, 'consumeTimeoutMinutes') ?? counts.consumeTimeoutMinutes.initial,
        consumeEnabled: flagIn(values, 'consumeEnabled') ?? flags.consumeEnabled,
        broadcastAllowed: flagIn(values, 'broadcastAllowed') ?? flags.broadcastAllowed,
        consumeFromMinEnabled:
          flagIn(values, 'consumeFromMinEnabled') ?? flags.consumeFromMinEnabled,
        isOrdered: flagIn(values, 'isOrdered') ?? flags.isOrdered,
        notifiesMembers: flagIn(values, 'notifiesMembers') ?? flags.notifiesMembers,
      },
    }),
  };
}

/** What a consumer group is set to on one broker group. */
export type ServedGroup = {
  [name in keyof typeof flags]: boolean;
} & { [name in keyof typeof counts]: number } & { groupName: string };

/** Of a group that is named, `settings` say what it is set to now, where that is one thing. */
export function changeGroup(
  clusterName: string,
  groups: readonly string[],
  groupName = '',
  settings: readonly ServedGroup[] = [],
): OrderKind {
  const present = <T>(pick: (one: ServedGroup) => T) => commonOf(settings.map(pick));
  const fields: Field[] = [
    nameField(groupName),
    placesField(groups),
    ...countNames.map(
      (name): Field => ({
        name,
        kind: 'count',
        ...counts[name],
        initial: null,
        present: present((one) => one[name]),
      }),
    ),
    ...flagNames.map(
      (name): Field => ({ name, kind: 'yesNo', present: present((one) => one[name]) }),
    ),
  ];
  return {
    word: 'changeGroup',
    target: groupName || clusterName,
    fieldsOf: () => fields,
    planOf: (values) => ({
      changeConsumerGroup: {
        clusterName,
        groupName: textIn(values, 'groupName'),
        brokerGroups: namesIn(values, 'brokerGroups'),
        retryCountMax: countIn(values, 'retryCountMax'),
        retryQueueCount: countIn(values, 'retryQueueCount'),
        consumeTimeoutMinutes: countIn(values, 'consumeTimeoutMinutes'),
        consumeEnabled: flagIn(values, 'consumeEnabled'),
        broadcastAllowed: flagIn(values, 'broadcastAllowed'),
        consumeFromMinEnabled: flagIn(values, 'consumeFromMinEnabled'),
        isOrdered: flagIn(values, 'isOrdered'),
        notifiesMembers: flagIn(values, 'notifiesMembers'),
      },
    }),
  };
}

export function deleteGroup(
  clusterName: string,
  groups: readonly string[],
  groupName = '',
): OrderKind {
  const fields: Field[] = [
    nameField(groupName),
    placesField(groups),
    { name: 'cleansUp', kind: 'flag', initial: false },
  ];
  return {
    word: 'deleteGroup',
    target: groupName || clusterName,
    fieldsOf: () => fields,
    planOf: (values) => ({
      deleteConsumerGroup: {
        clusterName,
        groupName: textIn(values, 'groupName'),
        brokerGroups: namesIn(values, 'brokerGroups'),
        cleansUp: flagIn(values, 'cleansUp') ?? false,
      },
    }),
  };
}
