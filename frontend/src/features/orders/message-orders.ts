import type { SendMessageInput } from '@/gql/operations';
import { type Field, linesOf, namesIn, textIn, type Values } from './field';
import { describedField } from './order-fields';
import type { OrderKind } from './order-kind';

function numberField(name: 'delayLevel' | 'queueId'): Field {
  const { low = 0, high } = describedField('sendMessage', name);
  const range = { low: String(low), high: high ? String(high) : null };
  return { name, kind: 'number', ...range, initial: '', isOptional: true };
}

function numberIn(values: Values, name: string): number | null {
  const text = textIn(values, name);
  return text === '' ? null : Number(text);
}

function pairsIn(values: Values, name: string): { name: string; value: string }[] {
  return linesOf(textIn(values, name)).map((line) => {
    const mark = line.indexOf('=');
    return { name: line.slice(0, mark).trim(), value: line.slice(mark + 1) };
  });
}

/** Sends one message at once. Without a topic the form asks for one, without groups for their name. */
export function sendMessage(
  clusterName: string,
  topicName: string | undefined,
  groups: readonly string[] | null,
): OrderKind<SendMessageInput> {
  const { lengthMax } = describedField('sendMessage', 'topicName');
  const topic = { name: 'topicName', kind: 'name', lengthMax: lengthMax ?? 0 } as const;
  const { countMax = 0 } = describedField('sendMessage', 'keys');
  const group: Field =
    groups === null
      ? { name: 'brokerGroupName', kind: 'text', initial: '' }
      : {
          name: 'brokerGroupName',
          kind: 'choice',
          choices: groups.map((value) => ({ value, word: null })),
          initial: null,
          none: 'field.brokerGroupName.any',
        };
  const fields: Field[] = [
    ...(topicName === undefined ? [topic] : []),
    { name: 'body', kind: 'lines', initial: '', isRequired: true },
    { name: 'keys', kind: 'names', known: null, countMax },
    { name: 'tag', kind: 'text', initial: '' },
    numberField('delayLevel'),
    group,
    numberField('queueId'),
    { name: 'properties', kind: 'pairs', initial: '' },
  ];
  return {
    word: 'sendMessage',
    target: topicName ?? clusterName,
    fieldsOf: () => fields,
    planOf: (values) => ({
      clusterName,
      topicName: topicName ?? textIn(values, 'topicName'),
      // As it was typed: blanks around a body are part of it.
      body: String(values.body ?? ''),
      keys: namesIn(values, 'keys'),
      tag: textIn(values, 'tag') || null,
      properties: pairsIn(values, 'properties'),
      delayLevel: numberIn(values, 'delayLevel'),
      brokerGroupName: textIn(values, 'brokerGroupName') || null,
      queueId: numberIn(values, 'queueId'),
    }),
  };
}
