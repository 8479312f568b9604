import type { EventsSubscription } from '@/gql/operations';

/** What the console hears: an event of the stream, or that the routes of a cluster changed. */
export type Heard = Omit<EventsSubscription['events'], 'number' | 'clusterName'> & {
  /** Null where something was missed, of whichever cluster. */
  clusterName: string | null;
};

export type Family = 'operation' | 'step' | 'group' | 'broker' | 'topic' | 'finding' | 'route';

/** Says of which events an answer tells; on each of them it is asked for again. */
export type Heeds = (heard: Heard) => boolean;

declare module '@tanstack/react-query' {
  interface Register {
    queryMeta: { heeds?: Heeds };
  }
}

/** Somebody may have changed the routes of a cluster. */
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

/** Has a query asked again on events of some families, in one cluster or in all. */
export function heeding(families: readonly Family[], { clusterName, when }: Meant = {}) {
  const heeds: Heeds = (heard) => {
    const family = heard.kind.slice(0, heard.kind.indexOf('.'));
    const isHere =
      clusterName === undefined || heard.clusterName === null || heard.clusterName === clusterName;
    return isHere && families.some((one) => one === family) && (when?.(heard) ?? true);
  };
  return { heeds };
}
