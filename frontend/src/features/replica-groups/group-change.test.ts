import { expect, test } from 'vitest';
import { aChange } from '@/testing/group-builders';
import { changeWords, operationIn } from './group-change';

const before = aChange({ syncStateSet: ['1', '2'] });
const [first, second] = before.replicaAddresses;

test('a set that changed says who came and who left', () => {
  const altered = (...syncStateSet: string[]) =>
    changeWords(aChange({ kind: 'SYNC_STATE_SET_ALTERED', syncStateSet }), before);

  expect(altered('1', '2', '3')).toMatchObject({ word: 'setJoined', values: { joined: '3' } });
  expect(altered('1')).toMatchObject({ word: 'setLeft', values: { left: '2' } });
  expect(altered('1', '3')).toMatchObject({
    word: 'setBoth',
    values: { joined: '3', left: '2' },
  });
});

test('a change whose former state is not known shows the new state', () => {
  const altered = aChange({ kind: 'SYNC_STATE_SET_ALTERED', syncStateSet: ['1', '2'] });

  expect(changeWords(altered, undefined)).toMatchObject({
    word: 'setIs',
    values: { set: '1, 2' },
  });
  expect(changeWords(aChange({ kind: 'ADDRESS_CHANGED' }), undefined).word).toBe('moved');
});

test('a preference is shown without a name, which history does not keep', () => {
  expect(changeWords(aChange({ kind: 'PREFERENCE_CHANGED' }), before)).toEqual({
    word: 'preferred',
    values: {},
  });
});

test('an election names the replaced master', () => {
  const elected = aChange({ masterId: '2', masterEpoch: 2 });

  expect(changeWords(elected, before)).toMatchObject({
    word: 'electedAfter',
    values: { master: '2', previous: '1' },
  });
  expect(changeWords(aChange(), before).word).toBe('electedAgain');
  expect(changeWords(aChange(), aChange({ masterId: null })).word).toBe('elected');
  expect(changeWords(aChange({ kind: 'MASTER_LOST' }), before)).toMatchObject({
    word: 'lost',
    values: { master: '1' },
  });
});

test('replicas that came, went or moved are named', () => {
  const two = [first, second].flatMap((one) => one ?? []);
  const fewer = aChange({ replicaAddresses: two });
  const moved = before.replicaAddresses.map((one) =>
    one.brokerId === '2' ? { ...one, address: '10.0.0.9:10911' } : one,
  );

  expect(changeWords(aChange({ kind: 'BROKER_ID_APPLIED' }), fewer).values).toEqual({ ids: '3' });
  expect(changeWords(aChange({ kind: 'REPLICAS_ADOPTED' }), undefined).values).toEqual({
    ids: '1, 2, 3',
  });
  expect(changeWords({ ...fewer, kind: 'REPLICAS_REMOVED' }, before).values).toEqual({ ids: '3' });
  expect(
    changeWords(aChange({ kind: 'ADDRESS_CHANGED', replicaAddresses: moved }), before).values,
  ).toEqual({ id: '2', address: '10.0.0.9:10911', from: '10.0.0.2:10911' });
});

test('a cause names the operation that wanted the change, if one did', () => {
  const id = '7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10';

  expect(operationIn(`operation ${id}/0 of admin`)).toBe(id);
  expect(operationIn('broker 1 asked')).toBeUndefined();
  expect(operationIn(`operation ${id.slice(1)}/0 of admin`)).toBeUndefined();
});
