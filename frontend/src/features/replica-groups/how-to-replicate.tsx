import { Trans } from 'react-i18next';

/** How a cluster gets a group whose masters are elected. */
export function HowToReplicate() {
  return <Trans i18nKey="replicaGroups.howTo" components={{ code: <code /> }} />;
}
