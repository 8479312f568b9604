import { expect, test } from 'vitest';
import { brokerNameOf, partsOf } from './broker-name';

test('the last hyphen of a name ends the group, whose own hyphens and digits stay', () => {
  expect(partsOf('broker-a-1-12')).toEqual({ brokerGroupName: 'broker-a-1', ownId: '12' });
  expect(brokerNameOf(partsOf('broker-a-1-12'))).toBe('broker-a-1-12');
});
