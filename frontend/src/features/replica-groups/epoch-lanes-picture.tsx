import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { formatInt64 } from '@/lib/format';
import { EpochLane } from './epoch-lane';
import type { EpochPicture } from './epoch-lanes';
import classes from './epoch-lanes.module.css';

/** One lane for each replica over one scale of bytes; the table beside it says the same. */
export function EpochLanesPicture({ picture }: { picture: EpochPicture }) {
  const { t } = useTranslation();
  return (
    <figure className={classes.picture} aria-label={t('epochs.pictureLabel')}>
      <div className={classes.lanes}>
        {picture.lanes.map((lane) => (
          <Fragment key={lane.brokerId}>
            <span className={classes.name}>
              <strong>{lane.brokerId}</strong>
              <code className={classes.address}>{lane.address}</code>
            </span>
            <EpochLane lane={lane} />
          </Fragment>
        ))}
        <div className={classes.axis}>
          <span>{t('epochs.byte', { offset: formatInt64(picture.startOffset) })}</span>
          <span>{formatInt64(picture.endOffset)}</span>
        </div>
      </div>
    </figure>
  );
}
