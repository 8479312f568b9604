/** First word of every query key that a change of the cluster makes out of date. */
export const clusterScope = 'cluster';
