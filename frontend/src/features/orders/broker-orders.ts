import type { BrokerConfigQuery } from '@/gql/operations';
import { brokerNameOf } from '@/lib/broker-name';
import { type Field, textIn } from './field';
import { fieldsOf, planOf } from './order-fields';
import type { OrderKind } from './order-kind';

/** A broker as orders and questions name it: `brokerId` is its own id. */
export type BrokerName = { clusterName: string; groupName: string; brokerId: string };
export type Property = BrokerConfigQuery['brokerConfig']['properties'][number];

function titleOf({ groupName, brokerId }: BrokerName): string {
  return brokerNameOf({ groupName, ownId: brokerId });
}

export function drainBroker(broker: BrokerName): OrderKind {
  const fields = fieldsOf('drainBroker', [...Object.keys(broker), 'address']);
  return {
    word: 'drainBroker',
    target: titleOf(broker),
    fieldsOf: () => fields,
    planOf: (values) => planOf('drainBroker', broker, fields, values),
  };
}

/** A field for the new value of a property, by its own description of itself. */
export function fieldOfProperty({
  name,
  type,
  value,
  stored,
  low,
  high,
  choices,
}: Property): Field {
  const initial = stored ?? value;
  switch (type) {
    case 'BOOLEAN':
    case 'CHOICE': {
      const texts = type === 'BOOLEAN' ? ['true', 'false'] : choices;
      const listed = texts.map((text) => ({ value: text, word: null }));
      return { name, kind: 'choice', choices: listed, initial, none: null };
    }
    case 'INTEGER':
      return { name, kind: 'number', low, high, initial, isOptional: true };
    default:
      return { name, kind: 'text', initial };
  }
}

/** Sets some of a broker's properties; an empty value is the default. */
export function changeConfig(broker: BrokerName, properties: readonly Property[]): OrderKind {
  const fields = properties.map(fieldOfProperty);
  return {
    word: 'changeConfig',
    target: titleOf(broker),
    fieldsOf: () => fields,
    planOf: (values) => ({
      changeBrokerConfig: {
        ...broker,
        changes: fields.map(({ name }) => ({ name, value: textIn(values, name) })),
      },
    }),
  };
}
