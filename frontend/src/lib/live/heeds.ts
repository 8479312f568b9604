import type { EventsSubscription } from '@/gql/operations';

/** What the console hears: an event of the stream, or that the routes of a cluster changed. */
export type Heard = Omit<EventsSubscription['events'], 'number' | 'clusterName'> & {
  /** Null where something was missed, which may be of any cluster. */
  clusterName: string | null;
};

export type Family = 'operation' | 'step' | 'group' | 'broker' | 'topic' | 'finding' | 'route';

/** Returns whether an event concerns an answer; if so, the answer is asked for again. */
export type Heeds = (heard: Heard) => boolean;

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { heeds?: Heeds };
  }
}

/** The routes of a cluster may have changed; without a name, those of any cluster. */
export function routesChanged(clusterName: string | null): Heard {
  return {
    kind: 'route.changed',
    clusterName,
    subject: '',
    brokerGroupName: null,
    operationId: null,
    details: null,
  };
}

type Meant = { clusterName?: string | undefined; when?: Heeds };

/** Makes a query ask again on events of some families, in one cluster or in all. */
export function heeding(families: readonly Family[], { clusterName, when }: Meant = {}) {
  const heeds: Heeds = (heard) => {
    const family = heard.kind.slice(0, heard.kind.indexOf('.'));
    const isHere =
      clusterName === undefined || heard.clusterName === null || heard.clusterName === clusterName;
    return isHere && families.some((one) => one === family) && (when?.(heard) ?? true);
  };
  return { heeds };
}
