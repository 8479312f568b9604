import type { BrokerConfigQuery } from '@/gql/operations';
import { brokerNameOf } from '@/lib/broker-name';
import { plainChoices } from './described-field';
import { type Field, textIn } from './field';
import { describedField, orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

/** A broker as orders and questions name it: `brokerId` is its own id. */
export type BrokerName = { clusterName: string; brokerGroupName: string; brokerId: string };
export type Property = BrokerConfigQuery['brokerConfig']['properties'][number];

function titleOf({ brokerGroupName, brokerId }: BrokerName): string {
  return brokerNameOf({ brokerGroupName, ownId: brokerId });
}

export function drainBroker(broker: BrokerName): OrderKind {
  return orderForm('drainBroker', {
    target: titleOf(broker),
    given: { ...broker },
    // What takes an operation back names the broker by its address.
    leftOut: ['address'],
  });
}

const { parts, countMax: changesMax = 0 } = describedField('changeBrokerConfig', 'changes');

/** How many settings one order changes at most. */
export { changesMax };

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
  const lengthMax = parts?.value?.lengthMax ?? null;
  switch (type) {
    case 'BOOLEAN':
    case 'CHOICE': {
      const texts = type === 'BOOLEAN' ? ['true', 'false'] : choices;
      return { name, kind: 'choice', choices: plainChoices(texts), initial, absence: null };
    }
    case 'INTEGER':
      return { name, kind: 'number', low, high, initial, isRequired: false };
    default:
      return { name, kind: 'text', initial, lengthMax, isRequired: false };
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
