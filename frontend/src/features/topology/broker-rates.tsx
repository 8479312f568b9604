import { useTranslation } from 'react-i18next';
import { formatRate } from '@/lib/format';
import type { BrokerView } from './broker-view';
import { SampleFigure } from './sample-figure';
import classes from './topology-node.module.css';

/** What a broker of the picture takes in and gives out. */
export function BrokerRates({ broker }: { broker: BrokerView }) {
  const { t } = useTranslation();
  return (
    <div className={classes.rates}>
      {t('topology.in')}{' '}
      <SampleFigure
        broker={broker}
        pick={(sample) => sample.messagesInPerSecond}
        format={formatRate}
      />
      <span className={classes.apart}>{t('topology.out')} </span>
      <SampleFigure
        broker={broker}
        pick={(sample) => sample.messagesOutPerSecond}
        format={formatRate}
      />
    </div>
  );
}
