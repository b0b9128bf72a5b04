/**
 * Entry of the script that stands in every page from its beginning, for those that want a carrier.
 */

import { answerPages, ownWorker } from './carrier';

answerPages(window, ownWorker);
