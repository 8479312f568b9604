import type { BrokerConfigQuery } from '@/gql/operations';
import { plainChoices } from './described-field';
import { type Field, textIn } from './field';
import { describedField, orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

/** A broker as orders name it: `brokerId` is its own id. */
type BrokerKey = { clusterName: string; brokerGroupName: string; brokerId: string };
export type Property = BrokerConfigQuery['brokerConfig']['properties'][number];

export function drainBroker(broker: BrokerKey, brokerName: string): OrderKind {
  return orderForm('drainBroker', {
    target: brokerName,
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
export function changeConfig(
  broker: BrokerKey,
  brokerName: string,
  properties: readonly Property[],
): OrderKind {
  const fields = properties.map(fieldOfProperty);
  return {
    word: 'changeConfig',
    target: brokerName,
    fieldsOf: () => fields,
    planOf: (values) => ({
      changeBrokerConfig: {
        ...broker,
        changes: fields.map(({ name }) => ({ name, value: textIn(values, name) })),
      },
    }),
  };
}
