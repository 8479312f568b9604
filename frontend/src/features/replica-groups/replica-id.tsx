import { IconCrown } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Replica } from './replica-group';
import classes from './replica-id.module.css';

/** A replica's id, with a crown when it is the recorded master. */
export function ReplicaId({ replica }: { replica: Replica }) {
  const { t } = useTranslation();
  return (
    <span className={classes.id}>
      {replica.brokerId}
      {replica.isMaster ? (
        <IconCrown
          size={14}
          stroke={1.8}
          className={classes.crown}
          role="img"
          aria-label={t('role.MASTER')}
        />
      ) : null}
    </span>
  );
}
