import { queryOptions } from '@tanstack/react-query';
import { BrokerConfigDocument, BrokerPageDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask, demand } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { type Heard, heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';

/** A broker as questions and orders name it: `brokerId` is its own id. */
export type BrokerKey = { clusterName: string; brokerGroupName: string; brokerId: string };

export const brokerKeys = {
  one: (clusterName: string, brokerName: string) =>
    [clusterScope, 'broker', clusterName, brokerName] as const,
  config: (broker: BrokerKey) => [clusterScope, 'broker-config', broker] as const,
};

/** Whether an event may be of a broker. Its group is unknown until it is read, so more may pass. */
function mayConcern(brokerName: string, { brokerGroupName, subject }: Heard): boolean {
  return brokerName.startsWith(brokerGroupName ?? subject.replace(/\/.*/, ''));
}

/** The broker of a name, also of its former spelling and of the id 0, which is the master. */
export function brokerOf(clusterName: string, brokerName: string) {
  return queryOptions({
    queryKey: brokerKeys.one(clusterName, brokerName),
    queryFn: async ({ signal }) =>
      demand(await ask(BrokerPageDocument, { clusterName, brokerName }, signal), 'broker'),
    refetchInterval: paced(sampleIntervalMs, 3 * sampleIntervalMs),
    meta: heeding(['broker', 'group', 'step'], {
      clusterName,
      when: (heard) =>
        mayConcern(brokerName, heard) &&
        (heard.kind === 'step.done' || !heard.kind.startsWith('step.')),
    }),
  });
}

/** The settings of a broker. The broker itself answers, so it is asked only on a look or change. */
export function brokerConfigOf(broker: BrokerKey, brokerName: string) {
  return queryOptions({
    queryKey: brokerKeys.config(broker),
    queryFn: ({ signal }) => ask(BrokerConfigDocument, broker, signal),
    staleTime: 30_000,
    retry: false,
    meta: heeding(['step', 'broker'], {
      clusterName: broker.clusterName,
      when: (heard) =>
        mayConcern(brokerName, heard) && ['step.done', 'broker.registered'].includes(heard.kind),
    }),
  });
}
