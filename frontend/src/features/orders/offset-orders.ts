import type { OffsetPosition, OffsetResetMode } from '@/gql/operations';
import { type Field, namesIn, textIn, type Values } from './field';
import { describedField } from './order-fields';
import type { OrderKind } from './order-kind';
import type { PlacedTopic } from './topic-orders';

const positions: readonly OffsetPosition[] = ['EARLIEST', 'LATEST', 'TIME', 'OFFSET', 'GROUP'];
const modes = (describedField('resetOffsets', 'mode').choices ?? []) as OffsetResetMode[];

function positionIn(values: Values): OffsetPosition {
  return positions.find((one) => one === values.position) ?? 'EARLIEST';
}

function groupField(name: 'consumerGroup' | 'sourceGroup', initial = ''): Field {
  const lengthMax = describedField('resetOffsets', name).lengthMax ?? 0;
  return { name, kind: 'name', lengthMax, initial };
}

function fieldOfPosition(position: OffsetPosition): Field[] {
  if (position === 'TIME') return [{ name: 'time', kind: 'time' }];
  if (position === 'GROUP') return [groupField('sourceGroup')];
  if (position !== 'OFFSET') return [];
  const range = { low: '0', high: null, initial: '', isOptional: false };
  return [{ name: 'offset', kind: 'number', ...range }];
}

/** Resets where a group goes on reading a topic; the plan shows each queue of it. From another group its offsets are copied. */
export function resetOffsets(topic: PlacedTopic, groupName = ''): OrderKind {
  const { clusterName, name: topicName, placements } = topic;
  const queueCount = Math.max(0, ...placements.map(({ readQueueCount }) => readQueueCount));
  const queueIds = Array.from({ length: queueCount }, (_, id) => String(id));
  return {
    word: 'resetOffsets',
    target: topicName,
    fieldsOf: (values) => [
      groupField('consumerGroup', groupName),
      {
        name: 'position',
        kind: 'choice',
        choices: positions.map((value) => ({ value, word: `offsetPosition.${value}` })),
        initial: 'EARLIEST',
        none: null,
      },
      ...fieldOfPosition(positionIn(values)),
      {
        name: 'brokerGroups',
        kind: 'names',
        known: placements.map(({ groupName: name }) => name),
      },
      { name: 'queueIds', kind: 'names', known: queueIds },
      {
        name: 'mode',
        kind: 'choice',
        choices: modes.map((value) => ({ value, word: `offsetMode.${value}` })),
        initial: 'AUTO',
        none: null,
      },
    ],
    planOf: (values) => {
      const position = positionIn(values);
      return {
        resetOffsets: {
          clusterName,
          topicName,
          consumerGroup: textIn(values, 'consumerGroup'),
          position,
          timestampMs: position === 'TIME' ? String(Date.parse(textIn(values, 'time'))) : null,
          offset: position === 'OFFSET' ? textIn(values, 'offset') : null,
          sourceGroup: position === 'GROUP' ? textIn(values, 'sourceGroup') : null,
          brokerGroups: namesIn(values, 'brokerGroups'),
          queueIds: namesIn(values, 'queueIds').map(Number),
          mode: modes.find((one) => one === values.mode) ?? 'AUTO',
        },
      };
    },
  };
}
