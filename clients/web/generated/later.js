import{Ab as on,Bb as rn,Ca as Ie,Cb as an,Da as T,Db as ln,Ea as A,Eb as cn,Fa as Le,Fb as je,G as ot,H as $,Ha as q,Hb as un,Ib as fn,Jb as mn,Kb as lt,Lb as ve,Mb as dn,Ob as pn,P as Ee,Pa as f,Pb as hn,Ra as at,Rb as bn,U as jt,Ua as H,Ub as gn,V as D,W as z,Xa as Z,Xb as We,Y as rt,Yb as He,Z as Y,Za as Yt,_ as Wt,_a as Fe,a as Nt,ab as qt,ac as wn,bb as Zt,cb as we,cc as xn,da as it,db as xe,dc as yn,ea as O,eb as Qt,ec as Ms,fa as L,fb as en,fc as ct,ga as Ht,gc as vn,h as It,hb as Be,hc as ut,ib as tn,j as Ce,jb as nn,k as Lt,kb as F,lb as oe,ma as ae,mb as J,n as Ft,na as Jt,nb as ye,o as Bt,oa as Vt,p as Ut,pa as Gt,pc as kn,q as Dt,ra as N,rb as Q,sb as j,ta as le,tb as Ue,u as zt,ua as Re,ub as De,va as ge,vb as ze,wa as Kt,xa as Xt,xb as sn,yb as ce,za as Ne,zb as ue}from"./chunk.js";var k=class extends Error{},Sn=2e7,$s=/^(\/usr)?\/lib(32|64|x32|exec)?\/|^\[vdso\]$|^dart:|^org-dartlang-sdk:/;function _n(t){let{time_us:e,cpu_ns:n,thread:s,length:o}=t.samples;t.period_us||=1e3;let r=new Float64Array(t.threads.length);for(let i=0;i<o;i++)r[s.data[i]]+=n.data[i]/1e3||t.period_us,e.data[i]=r[s.data[i]]}var V=class{profile=new Ft;#e=new Map;library(e,n=e.replace(/^.*\//,""),s){let o=`${e}
${n}`,r=this.#e.get(o);if(r===void 0){let{libraries:i}=this.profile;r=i.push({name:n,path:e,system:s??$s.test(e)})-1,this.#e.set(o,r)}return r}fn({name:e,library:n,file:s="",line:o=0,kind:r="Native"}){let i=n??this.library("");return this.profile.functions.push({name:e,library:i,file:s,line:o,kind:r})-1}place(e,n=0,s=!1,o=""){return this.profile.place(e,o||this.profile.functions[e].file,n,s?1:0)}add(e){let{samples:n,tags:s,states:o}=this.profile;n.stack.push(e.stack),n.time_us.push(e.time_us??0),n.cpu_ns.push(e.cpu_ns??0),n.thread.push(e.thread),n.tag.push(s.intern(e.tag??"")),n.state.push(o.intern(e.state??"")),n.whole.push(e.whole===!1?0:1)}addMany(e,n){if(!Number.isInteger(e)||e<0)throw new k(`invalid number of samples: ${e}`);if(this.profile.samples.length+e>Sn)throw new k(`more than ${Sn.toLocaleString("en-US")} samples`);let s={...n,cpu_ns:(n.cpu_ns??0)/(e||1)};for(let o=0;o<e;o++)this.add(s)}middlePeriod(){let e=this.profile.samples.cpu_ns.view().filter(n=>n>0).sort();this.profile.period_us=e.length?Math.round(e[e.length>>1]/1e3):0}};function E(t,e){if(typeof e!="object"||e===null||Array.isArray(e))throw new k(`${t} is not an object`);return e}function C(t,e){if(!Array.isArray(e))throw new k(`${t} is not a list`);return e}function R(t,e){if(typeof e!="number")throw new k(`${t} is not a number`);return e}function _(t){return typeof t=="string"?t:""}function On(t){return t.type==="CpuSamples"||t.type==="_CpuSamplesTable"}function Mn(t){if(t.type==="_CpuSamplesTable")return Ps(t);let e=new V;e.profile.period_us=R("samplePeriod",t.samplePeriod??0);let n=C("functions",t.functions).map((l,a)=>E(`function ${a}`,l)),o=n.some(l=>"function"in l)?Cs(e,n):As(e,n,t),r=Number(t.pid)||0,i=Ts(e,t);return C("samples",t.samples).forEach((l,a)=>{let c=E(`sample ${a}`,l),m=o(C("stack",c.stack));if(!m)return;let u=ft(c.isolateId)??r,d=R("tid",c.tid);e.add({stack:m,thread:e.profile.thread(u,d,i.get(`${u}/${d}`)??`thread ${d}`),time_us:R("timestamp",c.timestamp),cpu_ns:R("cpuNanos",c.cpuNanos??1e3*e.profile.period_us),tag:_(c.userTag),state:_(c.vmTag),whole:c.truncated!==!0})}),e.profile}function ft(t){let e=/\d+/.exec(_(t));return e?Number(e[0]):void 0}function Ts(t,e){for(let s of C("_processes",e._processes??[])){let{isolateId:o,name:r}=E("process",s);t.profile.processNames.set(ft(o)??0,_(r))}let n=C("_threads",e._threads??[]).map(s=>E("thread",s));return new Map(n.map(({isolateId:s,tid:o,name:r})=>[`${ft(s)}/${o}`,_(r)]))}function Ps(t){let e=new Bt;try{e.add({...t,reset:!1})}catch(n){throw new k(`incomplete table of samples: ${n.message}`)}return e.profile}function As(t,e,n){let s=new Map;for(let[r,i]of C("libraries",n.libraries??[]).entries()){let{id:l,path:a,name:c,system:m}=E(`library ${r}`,i);s.set(l,t.library(_(a),_(c),m===!0||void 0))}let o=new Map;for(let r of e){let i=s.get(E("owner",r.owner).id),l=R("line",r.line??0),a={name:_(r.name),library:i,file:_(r.file),line:l,kind:_(r.kind)};o.set(r.id,t.fn(a))}return r=>{let i=0;for(let l=r.length-1;l>=0;l--){let a=E("frame",r[l]),{id:c}=E("function",a.function),m=o.get(c);if(m===void 0)throw new k(`there is no function ${c}`);let u=R("line",a.line??0),d=t.place(m,u,a.inlined===!0,_(a.file));i=t.profile.stack(i,d)}return i}}function Cs(t,e){let n=e.map(s=>{let o=E("function",s.function),r=_(s.resolvedUrl),i=o.location??{},l=t.fn({name:Es(o),library:Rs(t,o,r),file:r,line:Number(i.line)||0,kind:_(s.kind)});return t.place(l)});return s=>{let o=0;for(let r=s.length-1;r>=0;r--){let i=n[s[r]];if(i===void 0)throw new k(`there is no function ${s[r]}`);o=t.profile.stack(o,i)}return o}}function $n(t){let e=[];for(let n=t.owner;n&&typeof n=="object"&&e.length<20;n=n.owner)e.push(n);return e}function Es(t){let e=_(t.name);for(let{type:n,name:s}of $n(t)){if(n!=="@Class"&&n!=="@Function")break;s&&s!=="::"&&!e.startsWith(`${s}.`)&&(e=`${s}.${e}`)}return e}function Rs(t,e,n){let s=$n(e),o=s.find(({type:l})=>l==="@Library")??s.find(l=>l.library)?.library,r=_(o?.uri)||n,i=/^(package|dart):/.test(r);return t.library(r.replace(/^file:\/\//,""),i?r:void 0)}function Tn(t,e){let n=[];zt(t,e,o=>n.push(o));let s=t.samples.time_us.data;return{profile:t,places:Int32Array.from(n).sort((o,r)=>s[o]-s[r]||o-r)}}function Je({calls:t},e){let{parents:n,functions:s}=t,o=[];for(;e>Lt;e=n[e])o.push(s[e]);return o.reverse()}function ee({stackParents:t,stackPlaces:e},n){let s=[];for(;n>0;n=t[n])s.push(e[n]);return s}function G({profile:t,places:e}){let n=t.samples.time_us.data;return e.length?{first_us:n[e[0]],last_us:n[e[e.length-1]]}:{first_us:0,last_us:0}}function I({libraries:t,functions:e},n){let{path:s,name:o}=t[e[n].library];return s||o}function fe({profile:t,places:e}){let{threads:n,samples:s}=t,o=new Map;for(let a of e){let c=s.thread.data[a],m=o.get(c);m?m.push(a):o.set(c,[a])}let r=[...o].map(([a,c])=>({number:a,places:c})),[i,l]=[a=>n[a.number].pid,a=>n[a.number].tid];return r.sort((a,c)=>i(a)-i(c)||l(a)-l(c))}function me(t){if(t.unit()==="samples")return()=>t.period_us||1;let e=t.samples.cpu_ns.data;return n=>e[n]/1e3}function Ve(t,e){let n=t.map(({places:s})=>s.reduce((o,r)=>o+e(r),0));return n.indexOf(Math.max(...n))}function ke({profile:t,places:e},n){let s=new Float64Array(t.functions.length),o=new Float64Array(t.functions.length),r=new Float64Array(t.calls.length),{callOf:i}=t,{parents:l,functions:a,outermost:c,length:m}=t.calls;for(let u of e)r[i[t.samples.stack.data[u]]]+=n(u);for(let u=m-1;u>0;u--)r[u]&&(s[a[u]]+=r[u]);for(let u=m-1;u>0;u--)r[l[u]]+=r[u],c[u]&&(o[a[u]]+=r[u]);return{own:s,total:o}}function Se(t){return t.split(/[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+/).join(" ")}var mt=/^(.*\S)\s+(\d+)$/,Ns=2e5,Is=36e9;function Pn(t){let e=t.split(`
`).find(n=>n.trim()&&n[0]!=="#");return e!==void 0&&mt.test(e.trimEnd())}function An(t){let e=new V,n=new Map,s=e.profile.thread(0,0,""),o=t.split(`
`),r=o.reduce((a,c)=>a+Number(mt.exec(c.trimEnd())?.[2]??0),0),i=r>=Ns&&r<=Is,l=0;for(let a of o){if(l++,!a.trim()||a[0]==="#")continue;let c=mt.exec(a.trimEnd());if(!c)throw new k(`line ${l} is not a stack and a number`);let m=0;for(let u of c[1].split(";")){let d=n.get(u);d===void 0&&n.set(u,d=e.place(e.fn({name:u}))),m=e.profile.stack(m,d)}i?e.add({stack:m,thread:s,cpu_ns:1e3*Number(c[2])}):e.addMany(Number(c[2]),{stack:m,thread:s})}return e.profile}function Ls(t){return Se(t).replaceAll(";",":")}function Cn({profile:t,places:e}){let n=new Map,{callOf:s}=t,o=t.samples.stack.data,r=t.unit()==="time"&&t.samples.cpu_ns.data;for(let l of e){let a=s[o[l]];n.set(a,(n.get(a)??0)+(r?Math.round(r[l]/1e3):1))}let i=new Map;for(let[l,a]of n){let m=Je(t,l).map(u=>Ls(t.functions[u].name)).join(";");i.set(m,(i.get(m)??0)+a)}return[...i.keys()].sort().map(l=>`${l} ${i.get(l)}
`).join("")}var M={sampleType:1,sample:2,mapping:3,location:4,function:5,string:6,duration_ns:10,periodType:11,period:12,defaultType:14},re={type:1,unit:2},te={location:1,value:2,label:3},ne={key:1,text:2,number:3},ie={id:1,file:5,has:[7,8,9,10]},X={id:1,mapping:2,address:3,line:4},de={function:1,line:2},B={id:1,name:2,systemName:3,file:4,line:5};var En=0,Fs=1,Rn=2,Bs=5,Ge=class{constructor(e){this.bytes=e}bytes;at=0;varint(){let e=0;for(let n=1;;n*=128){if(this.at>=this.bytes.length||n>2**63)throw new k("truncated number");let s=this.bytes[this.at++];if(e+=(s&127)*n,s<128)return e}}take(e){if(e>this.bytes.length-this.at)throw new k("truncated message");return this.at+=e,this.bytes.subarray(this.at-e,this.at)}};function _e(t,e){let n=new Ge(t);for(;n.at<t.length;){let s=n.varint(),o=Math.floor(s/8);switch(s%8){case En:e(o,n.varint());break;case Rn:e(o,n.take(n.varint()));break;case Fs:n.take(8);break;case Bs:n.take(4);break;default:throw new k(`a field of kind ${s%8}`)}}}function se(t){let e=new Map;return _e(Oe(t),(n,s)=>{typeof s=="number"&&e.set(n,s)}),e}function Oe(t){if(typeof t=="number")throw new k("a number where a message should be");return t}function dt(t){if(typeof t=="number")return[t];let e=new Ge(t),n=[];for(;e.at<t.length;)n.push(e.varint());return n}function Me(t){return t>=2**63?t-2**64:t}var U=class t{#e=new Uint8Array(64);#n=0;bytes(){return this.#e.slice(0,this.#n)}number(e,n){return n&&(this.#o(8*e+En),this.#o(n)),this}data(e,n){return this.#o(8*e+Rn),this.#o(n.length),this.#r(n.length),this.#e.set(n,this.#n),this.#n+=n.length,this}packed(e,n){let s=new t;for(let o of n)s.#o(o);return this.data(e,s.bytes())}#r(e){if(this.#n+e<=this.#e.length)return;let n=new Uint8Array(2*(this.#n+e));n.set(this.#e),this.#e=n}#o(e){if(!(e>=0))throw new Error(`not a number to be written: ${e}`);for(this.#r(10);e>=128;e=Math.floor(e/128))this.#e[this.#n++]=e%128|128;this.#e[this.#n++]=e}};var Ke={nanoseconds:1,microseconds:1e3,milliseconds:1e6,seconds:1e9};function Nn(t){return new pt(t).profile()}var pt=class{#e=new V;#n=new Map;#r;#o=new Map;#a=new Map;constructor(e){_e(e,(s,o)=>{let r=this.#n.get(s);r?r.push(o):this.#n.set(s,[o])});let n=new TextDecoder;if(this.#r=this.#s(M.string).map(s=>n.decode(Oe(s))),!this.#r.length)throw new k("not a pprof profile: it has no names")}#s(e){return this.#n.get(e)??[]}#t(e=0){let n=this.#r[e];if(n===void 0)throw new k(`there is no string ${e}`);return n}profile(){let{count:e,time:n,unit_ns:s}=this.#l();this.#c();for(let o of this.#s(M.sample))this.#u(o,e,n,s);return this.#f(),this.#e.profile}#l(){let e=this.#s(M.sampleType).map(o=>{let r=se(o);return[this.#t(r.get(re.type)),this.#t(r.get(re.unit))]}),n=e.findIndex(([o,r])=>r==="count"&&/^samples?$/.test(o)),s=e.findIndex(([,o])=>o in Ke);if(n<0&&s<0){let o=e.map(r=>r.join("/")).join(", ")||"nothing";throw new k(`pprof profile of ${o}: it counts neither samples nor time`)}return{count:n,time:s,unit_ns:s<0?0:Ke[e[s][1]]}}#c(){let e=new Map;for(let r of this.#s(M.mapping)){let i=se(r),l=this.#t(i.get(ie.file));e.set(i.get(ie.id)??0,this.#e.library(l))}let n=new Map;for(let r of this.#s(M.function)){let i=se(r);n.set(i.get(B.id)??0,i)}let s=new Map,o=(r,i)=>{let l=s.get(r);if(l!==void 0)return l;let a=n.get(r);if(!a)throw new k(`there is no function ${r}`);return l=this.#e.fn({name:this.#t(a.get(B.name))||this.#t(a.get(B.systemName))||"?",library:i,file:this.#t(a.get(B.file)),line:Me(a.get(B.line)??0)}),s.set(r,l),l};for(let r of this.#s(M.location))this.#i(Oe(r),e,o)}#i(e,n,s){let o=se(e),r=n.get(o.get(X.mapping)??0),i=[];if(_e(e,(a,c)=>{if(a!==X.line)return;let m=se(c);i.push([s(m.get(de.function)??0,r),Me(m.get(de.line)??0)])}),!i.length){let a=`0x${(o.get(X.address)??0).toString(16)}`;i.push([this.#e.fn({name:a,library:r}),0])}let l=i.map(([a,c],m)=>this.#e.place(a,c,m+1<i.length));this.#o.set(o.get(X.id)??0,l)}#u(e,n,s,o){let r=[],i=[],l=new Map;_e(Oe(e),(d,h)=>{d===te.location?r.push(...dt(h)):d===te.value?i.push(...dt(h).map(Me)):d===te.label&&this.#d(h,l)});let a=this.#e,c=0;for(let d of r.reverse()){let h=this.#o.get(d);if(!h)throw new k(`there is no location ${d}`);for(let p=h.length-1;p>=0;p--)c=a.profile.stack(c,h[p])}if(!c)return;let m=d=>String(l.get(d)??""),u=Number(l.get("pid"))||0;l.has("process")&&a.profile.processNames.set(u,m("process")),a.addMany(n<0?1:i[n]??0,{stack:c,thread:this.#m(u,l.get("tid"),m("thread")),cpu_ns:s<0?0:(i[s]??0)*o,tag:m("tag"),state:m("state"),whole:m("stack")!=="cut"})}#m(e,n,s){if(typeof n=="number")return this.#e.profile.thread(e,n,s);let o=this.#a.get(s);return o===void 0&&this.#a.set(s,o=this.#a.size),this.#e.profile.thread(e,o,s)}#d(e,n){let s=se(e),o=this.#t(s.get(ne.text));n.set(this.#t(s.get(ne.key)),o||Me(s.get(ne.number)??0))}#f(){let e=this.#s(M.periodType)[0],n=e===void 0?"":this.#t(se(e).get(re.unit)),s=Number(this.#s(M.period)[0]??0);n in Ke&&s?this.#e.profile.period_us=s*Ke[n]/1e3:this.#e.middlePeriod()}};var Us={nanoseconds:.001,microseconds:1,milliseconds:1e3,seconds:1e6},Ds=/^(.*) \(pid (\d+), tid (\d+)\)$/s;function In(t){return"shared"in t&&"profiles"in t}function Ln(t){let e=new V,n=C("shared.frames",E("shared",t.shared).frames).map((o,r)=>e.place(zs(e,E(`frame ${r}`,o)))),s=t._isoscope??{};C("profiles",t.profiles).forEach((o,r)=>js(e,n,E(`profile ${r}`,o),r));for(let[o,r]of Object.entries(s.processes??{}))e.profile.processNames.set(Number(o),_(r));return e.profile.period_us=Number(s.period)||0,e.profile.period_us||e.middlePeriod(),e.profile}function zs(t,e){let[n,s]=[_(e.file),R("line",e.line??0)],o=_(e.name);return n&&!s?t.fn({name:o,library:t.library(n)}):t.fn({name:o,file:n,line:s})}function js(t,e,n,s){let o=_(n.name)||`profile ${s+1}`,r=Ds.exec(o),i=r?t.profile.thread(Number(r[2]),Number(r[3]),r[1]):t.profile.thread(0,s+1,o),l=_(n.unit),a=Us[l];if(l!=="none"&&!a)throw new k(`speedscope profile in ${l||"no unit"}: only times and counts can be read`);let c=n._cpuMicros?C("_cpuMicros",n._cpuMicros):null,m=C("_states",n._states??[]),u=-1;for(let{end:d,weight:h,stack:p}of n.type==="evented"?Hs(n):Ws(n)){if(u++,!p.length)continue;let w=0;for(let x of p){if(e[x]===void 0)throw new k(`there is no frame ${x}`);w=t.profile.stack(w,e[x])}if(l==="none")t.addMany(h,{stack:w,thread:i});else{let x=1e3*(c?R("CPU time",c[u]):h*a),S=_(m[u]);t.add({stack:w,thread:i,time_us:d*a,cpu_ns:x,state:S})}}}function*Ws(t){let e=C("samples",t.samples),n=C("weights",t.weights);if(e.length!==n.length)throw new k(`speedscope profile of ${e.length} samples and ${n.length} weights`);let s=R("startValue",t.startValue??0);for(let o=0;o<e.length;o++){let r=R("weight",n[o]);s+=r,yield{end:s,weight:r,stack:C("sample",e[o])}}}function*Hs(t){let e=[],n=R("startValue",t.startValue??0);for(let s of C("events",t.events)){let o=E("event",s),r=R("at",o.at),i=R("frame",o.frame);if(r>n&&(yield{end:r,weight:r-n,stack:e},n=r),o.type==="O")e.push(i);else if(e.pop()!==i)throw new k(`invalid speedscope profile: frame ${i} closes, and is not open`)}}var Js=[{form:"speedscope",knows:In,read:Ln},{form:"CpuSamples",knows:On,read:Mn}],$e="isoscope reads speedscope, pprof, CpuSamples and folded stacks",Vs=2**31;async function Gs(t){if(!t.length)throw new k("the file is empty");let e=t[0]===31&&t[1]===139,n=Ks(e?await qs(t):t);if(!n.profile.samples.length)throw new k(`${n.form} file without samples`);let s=n.profile.samples.time_us.view().every(o=>o===0);return s&&_n(n.profile),{...n,timeless:s}}function Ks(t){let e=new TextDecoder().decode(t.subarray(0,4100)).trimStart();if(e[0]==="{"||e[0]==="[")return Xs(new TextDecoder().decode(t));if(/^<(\?xml|!doctype|html|svg)\b/i.test(e))throw new k(`HTML page or SVG picture; ${$e}`);if(!/[^\t\r\n\x20-\uffff]/.test(e)){let n=new TextDecoder().decode(t);if(Pn(n))return{form:"folded",profile:An(n)};throw new k(`unrecognized text format; ${$e}`)}try{return{form:"pprof",profile:Nn(t)}}catch(n){throw n instanceof k?new k(`${n.message}; ${$e}`):n}}function Xs(t){let e=Ys(t),n=Js.find(({knows:s})=>s(e));if(!n)throw new k(`unrecognized JSON format; ${$e}`);return{form:n.form,profile:n.read(e)}}function Ys(t){let e;try{e=JSON.parse(t)}catch(n){throw new k(`invalid or truncated JSON: ${n.message}`)}if(e&&"jsonrpc"in e&&(e=e.result),!e||typeof e!="object")throw new k(`JSON without a profile; ${$e}`);return e}async function qs(t){let e=new Blob([t]).stream().pipeThrough(new DecompressionStream("gzip")),n=[],s=0,o=e.getReader();for(;;){let{done:l,value:a}=await o.read().catch(c=>{throw new k(`damaged or truncated gzip file: ${c.message}`)});if(l)break;if(n.push(a),s+=a.length,s>Vs)throw new k("gzip file of more than 2 GiB unpacked")}let r=new Uint8Array(s),i=0;for(let l of n)r.set(l,i),i+=l.length;return r}var Zs=["Native","Stub","Jit","Interpreted","Unnamed"];function Fn(t){let{profile:e,places:n}=t,{samples:s,threads:o,states:r,tags:i}=e,{first_us:l,last_us:a}=G(t),c=new Map,m=p=>{let w=c.get(p);return w||c.set(p,w=ee(e,p).map(x=>Qs(e,x))),w},u=[...new Set(o.map(({pid:p})=>p))],d=p=>`isolates/${p}`,h={type:"CpuSamples",samplePeriod:e.period_us,maxStackDepth:0,sampleCount:n.length,timeOriginMicros:l,timeExtentMicros:a-l,pid:o[0]?.pid??0,_counters:{},_processes:u.map(p=>({isolateId:d(p),name:e.processNames.get(p)??"process",pid:p})),_threads:o.filter(({name:p})=>p).map(({pid:p,tid:w,name:x})=>({isolateId:d(p),tid:w,name:x})),samples:Array.from(n,p=>{let{pid:w,tid:x}=o[s.thread.data[p]];return{timestamp:s.time_us.data[p],tid:x,...u.length>1?{isolateId:d(w)}:{},stack:m(s.stack.data[p]),vmTag:r.texts[s.state.data[p]],userTag:i.texts[s.tag.data[p]]||o[s.thread.data[p]].name||"Default",cpuNanos:s.cpu_ns.data[p],...s.whole.data[p]?{}:{truncated:!0}}}),functions:eo(t),libraries:e.libraries.map((p,w)=>({id:`libraries/${w}`,uri:p.path?`file://${p.path}`:"",buildId:"",loadBias:0,...p}))};for(let p of c.values())h.maxStackDepth=Math.max(h.maxStackDepth,p.length);return JSON.stringify(h)}function Qs(t,e){let n=t.functionAt(e),{line:s,file:o}=t.linePlace(e),r=t.files.texts[o];return{function:{type:"@Function",id:`functions/${n}`},kind:"Native",...s?{line:s}:{},...r&&r!==t.functions[n].file?{file:r}:{},...t.isInlined(e)?{inlined:!0}:{}}}function eo({profile:t,places:e}){let{own:n,total:s}=ke({profile:t,places:e},()=>1);return t.functions.map(({name:o,library:r,file:i,line:l,kind:a},c)=>({id:`functions/${c}`,name:o,owner:{type:"@Library",id:`libraries/${r}`},inclusiveTicks:s[c],exclusiveTicks:n[c],kind:Zs.includes(a)?a:"Native",...i?{file:i}:{},...l?{line:l}:{}}))}var[Un,bt]=[1,2],Bn=125;function Dn(t){let{profile:e}=t,n=fe(t),s=me(e),{places:o}=n[Ve(n,s)],{samples:r,callOf:i,period_us:l}=e,a=l>=4*Bn?Bn:1,c=g=>Math.round(g/a)*a,m=[],u=[],d=g=>r.time_us.data[g]-s(g),h=Math.max(a,c(d(o[0]))),[p,w]=[h,h],x=(g,v)=>{m.push(g),u.push(c(v)-w),w=c(v)};for(let g of o){let v=d(g)-p;v>l/2&&(x(bt,p),p+=v),x(i[r.stack.data[g]]+2,p),p+=s(g)}x(Un,p);let S=to(t,o);return JSON.stringify({nodes:S,startTime:h,endTime:c(p),samples:m,timeDeltas:u})}function to({profile:t},e){let{callOf:n,stackPlaces:s,samples:o}=t,{parents:r,functions:i}=t.calls,l=new Map,a=ht(Un,"(root)");a.children.push(bt);let c=u=>{if(u<=0)return a;let d=l.get(u);if(d)return d;let{name:h,file:p,line:w}=t.functions[i[u]],x=p||I(t,i[u]),S=x.startsWith("/")?`file://${encodeURI(x)}`:x;return l.set(u,d=ht(u+2,h,S,Math.max(w,1)-1)),c(r[u]).children.push(d.id),d},m=new Map;for(let u of e){let d=o.stack.data[u],h=c(n[d]);h.hitCount++;let{line:p}=t.linePlace(s[d]);if(!p)continue;let w=m.get(h)??new Map;m.set(h,w.set(p,(w.get(p)??0)+1))}for(let[u,d]of m)u.positionTicks=[...d].sort((h,p)=>h[0]-p[0]).map(([h,p])=>({line:h,ticks:p}));return[a,ht(bt,"(idle)"),...l.values()]}function ht(t,e,n="",s=0){return{id:t,callFrame:{functionName:e,scriptId:"0",url:n,lineNumber:s,columnNumber:0},hitCount:0,children:[]}}function zn(t){let{profile:e}=t,n=e.samples.cpu_ns.data,s=ke(t,()=>1),o=ke(t,a=>n[a]/1e3),r=e.unit()==="time"?o:s,i=["function","library","file","line","self_samples","total_samples"],l=e.functions.map(({name:a,file:c,line:m},u)=>({name:a,file:c,line:m,fn:u})).filter(({fn:a})=>s.total[a]).sort((a,c)=>r.own[c.fn]-r.own[a.fn]||r.total[c.fn]-r.total[a.fn]).map(({name:a,file:c,line:m,fn:u})=>[a,I(e,u),c,m||"",s.own[u],s.total[u],Math.round(o.own[u]),Math.round(o.total[u])]);return Wn([[...i,"self_us","total_us"],...l])}function jn({profile:t,places:e}){let{samples:n,threads:s,processNames:o,tags:r,states:i}=t,l=new Map,a=u=>{let d=l.get(u);return d===void 0&&l.set(u,d=no(t,u)),d},c=["time_us","pid","process","tid","thread","cpu_us","user_tag","state"],m=Array.from(e,u=>{let{pid:d,tid:h,name:p}=s[n.thread.data[u]];return[n.time_us.data[u],d,o.get(d)??"",h,p,Math.round(n.cpu_ns.data[u]/1e3),r.texts[n.tag.data[u]]||p,i.texts[n.state.data[u]],n.whole.data[u],a(n.stack.data[u])]});return Wn([[...c,"whole","stack"],...m])}function no(t,e){return ee(t,e).map(s=>{let o=t.functions[t.functionAt(s)].name.replaceAll(";",":"),{line:r}=t.linePlace(s);return r?`${o}:${r}`:o}).reverse().join(";")}function Wn(t){return t.map(e=>`${e.map(so).join(",")}
`).join("")}function so(t){if(typeof t=="number")return String(t);let e=/^[=+\-@\t\r]/.test(t)?`'${t}`:t;return/[",\r\n]/.test(e)?`"${e.replaceAll('"','""')}"`:e}var Hn="cpu-profiler",oo="2.61.0",gt=t=>`isolates/1-${t}`;function Vn(t){let{profile:e}=t,{callOf:n,samples:s,threads:o,tags:r,states:i}=e,{parents:l,functions:a}=e.calls,c=new Set,m=ro(t).map(({time_us:x,sample:S})=>{let g=n[s.stack.data[S]];for(let y=g;y>0&&!c.has(y);y=l[y])c.add(y);let{pid:v,tid:b}=o[s.thread.data[S]];return{ph:"P",name:"",pid:v,tid:b,ts:x,cat:"Dart",sf:gt(g),args:{userTag:r.texts[s.tag.data[S]]||"Default",vmTag:i.texts[s.state.data[S]]||"Native"}}}),u=[...c].sort((x,S)=>x-S),d=new Map([[0,0]]),h={};for(let x of u){let S=l[x];d.set(x,d.get(S)+1);let{name:g,file:v,line:b}=e.functions[a[x]],y=I(e,a[x]);h[gt(x)]={name:g,category:"Dart",resolvedUrl:v||y,packageUri:y,sourceLine:b||null,...S>0?{parent:gt(S)}:{}}}let{first_us:p,last_us:w}=G(t);return JSON.stringify({devToolsSnapshot:!0,devToolsVersion:oo,connectedApp:{isFlutterApp:!1,isProfileBuild:!0,isDartWebApp:!1,isRunningOnDartVM:!0,operatingSystem:"linux"},activeScreenId:Hn,[Hn]:{type:"_CpuProfileTimeline",samplePeriod:e.period_us,sampleCount:m.length,stackDepth:[...d.values()].reduce((x,S)=>Math.max(x,S),0),timeOriginMicros:p,timeExtentMicros:w-p,stackFrames:h,traceEvents:m}})}function ro({profile:t,places:e}){let{samples:n,period_us:s,threads:o}=t,r=a=>Math.round(n.time_us.data[a]);if(t.unit()==="samples"||!s)return Jn(Array.from(e,a=>({time_us:r(a),sample:a})),s);let i=new Float64Array(o.length).fill(s/2),l=[];for(let a of e){let c=n.thread.data[a];i[c]+=n.cpu_ns.data[a]/1e3;let m=Math.floor(i[c]/s);i[c]-=m*s;for(let u=0;u<m;u++)l.push({time_us:r(a)-u*s,sample:a})}return Jn(l.sort((a,c)=>a.time_us-c.time_us||a.sample-c.sample),s)}function Jn(t,e){let n=[];for(let s=0,o;s<t.length;s=o){let{time_us:r}=t[s];for(o=s;o<t.length&&t[o].time_us===r;)o++;let i=n.length?n[n.length-1].time_us:r-e,l=(r-i)/(o-s);for(let a=s;a<o;a++)n.push({time_us:Math.floor(i+l*(a-s+1)),sample:t[a].sample})}return n}var io=66,ao={Other:"grey",Program:"yellow",Library:"blue","No source":"orange"},[Gn,lo,co,uo]=[0,1,2,3],fo=1,mo=1;function Kn(t,e){let{profile:n,places:s}=t,o=new wt(n),r=me(n),{time_us:i}=n.samples,l=s.reduce((c,m)=>Math.min(c,i.data[m]-r(m)),1/0),a=fe(t).map(c=>po(n,o,c,l));return JSON.stringify({meta:bo(n,e),libs:n.libraries.map(c=>({arch:"",name:c.name,path:c.path,debugName:c.name,debugPath:c.path,breakpadId:"",codeId:""})),pages:[],counters:[],profilerOverhead:[],shared:o.tables(),threads:a})}var K=class{#e;length=0;constructor(...e){this.#e=e.map(n=>[n,[]])}add(...e){return this.#e.forEach(([,n],s)=>n.push(e[s])),this.length++}json(){return{length:this.length,...Object.fromEntries(this.#e)}}},wt=class{constructor(e){this.profile=e;e.libraries.forEach(({name:n},s)=>this.#a.add(s,this.string(n),null,fo));for(let{name:n,library:s,file:o,line:r}of e.functions)this.#o.add(this.string(n),!1,!1,e.libraries[s]?s:-1,o?this.#l(o):null,r||null,null,null);this.#c()}profile;#e=new Map;#n=new Map;#r=new K("address","inlineDepth","category","subcategory","func","nativeSymbol","innerWindowID","line","column","originalLocation");#o=new K("name","isJS","relevantForJS","resource","source","lineNumber","columnNumber","originalLocation");#a=new K("lib","name","host","type");#s=new K("id","filename","startLine","startColumn","sourceMapURL","content");#t=new K("frame","prefixOffset");string(e){let n=this.#e.get(e);return n===void 0&&this.#e.set(e,n=this.#e.size),n}#l(e){let n=this.#n.get(e);return n===void 0&&(n=this.#s.add(null,this.string(e),1,1,null,null),this.#n.set(e,n)),n}#c(){let{profile:e}=this,{stackParents:n,stackPlaces:s}=e,o=new Map,r=[0];for(let i=1;i<n.length;i++){let[l,a]=[s[i],n[i]];r.push(e.isInlined(l)&&a>0?r[a]+1:0);let c=`${l} ${r[i]}`,m=o.get(c);m===void 0&&o.set(c,m=this.#i(l,r[i])),this.#t.add(m,a>0?i-a:0)}}#i(e,n){let s=this.profile.functionAt(e),{line:o}=this.profile.linePlace(e);return this.#r.add(-1,n,this.#u(s),0,s,null,null,o||null,null,null)}#u(e){let{kind:n,library:s}=this.profile.functions[e];if(n==="Jit"||n==="Interpreted")return uo;let o=this.profile.libraries[s]?.name;return o?[...this.profile.processNames.values()].includes(o)?lo:co:Gn}tables(){return{stackTable:this.#t.json(),frameTable:this.#r.json(),funcTable:this.#o.json(),resourceTable:this.#a.json(),nativeSymbols:new K("libIndex","address","name","functionSize").json(),sources:this.#s.json(),sourceLocationTable:new K("source","line","column").json(),stringArray:[...this.#e.keys()]}}};function po(t,e,n,s){let{samples:o,processNames:r}=t,{pid:i,tid:l,name:a}=t.threads[n.number],c=r.get(i)??"process",m=n.places.map(d=>(o.time_us.data[d]-s)/1e3),u=t.unit()==="time";return{processType:"default",processName:c,processStartupTime:0,processShutdownTime:null,registerTime:0,unregisterTime:null,pausedRanges:[],name:a||c,isMainThread:l===i,showMarkersInTimeline:!0,pid:String(i),tid:l,samples:{length:m.length,stack:n.places.map(d=>o.stack.data[d]-1),time:m,weight:u?n.places.map(d=>o.cpu_ns.data[d]/1e6):null,weightType:u?"tracing-ms":"samples",threadCPUDelta:n.places.map(d=>Math.round(o.cpu_ns.data[d]/1e3))},markers:ho(t,e,n,m,["","Default",a,c])}}function ho(t,e,{places:n},s,o){let r=new K("name","startTime","endTime","phase","category","data"),i=t.samples.tag.data;for(let l=0,a;l<n.length;l=a){for(a=l+1;a<n.length&&i[n[a]]===i[n[l]];)a++;let c=t.tags.texts[i[n[l]]];if(o.includes(c))continue;let m={type:"UserTag",name:c};r.add(e.string(c),s[l],s[a-1],mo,Gn,m)}return r.json()}function bo(t,e){let n="{marker.data.name}";return{interval:t.period_us/1e3,startTime:0,processType:0,product:e,importedFrom:"isoscope",stackwalk:1,version:24,preprocessedProfileVersion:io,symbolicated:!0,categories:Object.entries(ao).map(([s,o])=>({name:s,color:o,subcategories:["Other"]})),markerSchema:[{name:"UserTag",tooltipLabel:n,chartLabel:n,tableLabel:n,display:["marker-chart","marker-table","timeline-overview"],fields:[{key:"name",label:"Tag",format:"string"}]}],sampleUnits:{time:"ms",eventDelay:"ms",threadCPUDelta:"\xB5s"},usesOnlyOneStackType:!0,sourceCodeIsNotOnSearchfox:!0,pausedRanges:[],extensions:{length:0,baseURL:[],id:[],name:[]}}}var Xn=`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;; img-src data:; style-src &#x27;sha256-3E33WEW71DZwgHvDUzQlZOtLeFiVn8ppM8xwgUiBkGg=&#x27;; script-src &#x27;sha256-DtpjhbmTzbSGYCB7Z3cjgcYy+ku9IY1uL+jaaprjD60=&#x27;; base-uri &#x27;none&#x27;; form-action &#x27;none&#x27;">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>@TITLE@ \u2013 flame graph</title>
<style>:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1a1a1a; --faint: #5c5c5c; --line: #d0d0d0; --field: #f4f4f4;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) {
    --page: #1b1c1e; --ink: #ececec; --faint: #a8a8a8; --line: #44474b; --field: #2a2c30;
  }
}
:root[data-theme="dark"] {
  color-scheme: dark;
  --page: #1b1c1e; --ink: #ececec; --faint: #a8a8a8; --line: #44474b; --field: #2a2c30;
}
:root[data-theme="light"] { color-scheme: light; }
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--page); color: var(--ink); font: 14px/1.45 system-ui, sans-serif;
}
header {
  position: sticky; top: 0; z-index: 1; padding: 12px 16px 8px; background: var(--page);
  border-bottom: 1px solid var(--line); display: grid; grid-template-columns: 1fr minmax(0, 440px); gap: 4px 16px;
}
h1 { margin: 0; font-size: 18px; overflow-wrap: anywhere; }
p { margin: 0; color: var(--faint); }
.controls { display: flex; gap: 8px; align-items: start; justify-content: end; }
input, button {
  font: inherit; color: inherit; background: var(--field); border: 1px solid var(--line);
  border-radius: 5px; padding: 4px 10px;
}
input { flex: 1; min-width: 8em; }
button { flex: none; }
button { cursor: pointer; }
button:disabled { opacity: .45; cursor: default; }
:is(input, button, canvas):focus-visible { outline: 2px solid #0a6ecc; outline-offset: 1px; }
#found { grid-column: 2; text-align: right; min-height: 1.45em; }
#found.bad { color: #c62f2f; }
#legend {
  grid-column: 1; grid-row: 2; margin: 0; padding: 0; list-style: none; font-size: 12px;
  display: flex; flex-wrap: wrap; gap: 2px 14px;
}
#legend i {
  display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 5px;
  vertical-align: -1px;
}
main { flex: 1; padding: 8px 16px; }
canvas { display: block; width: 100%; cursor: pointer; }
:root[data-theme="dark"] :is(canvas, #legend i) { filter: brightness(.84); }
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) :is(canvas, #legend i) { filter: brightness(.84); }
}
footer {
  position: sticky; bottom: 0; display: flex; justify-content: space-between; gap: 16px;
  padding: 6px 16px; background: var(--page); border-top: 1px solid var(--line); font-size: 13px;
}
#details { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.keys { flex: none; color: var(--faint); }
kbd {
  font: 11px ui-monospace, monospace; border: 1px solid var(--line); border-radius: 3px; padding: 0 4px;
}
#tip {
  position: fixed; z-index: 2; max-width: min(640px, 90vw); padding: 7px 10px; pointer-events: none;
  background: var(--page); border: 1px solid var(--line); border-radius: 6px;
  box-shadow: 0 3px 14px #0005; font-size: 13px; overflow-wrap: anywhere;
}
#tip b { font: 600 13px ui-monospace, monospace; }
#tip div { color: var(--faint); }
@media (max-width: 800px) {
  header { grid-template-columns: 1fr; }
  #legend, #found { grid-column: 1; grid-row: auto; text-align: left; }
  .keys { display: none; }
}
</style>
</head>
<body>
<header>
<div class="told">
<h1>@TITLE@</h1>
@SUMMARY@
</div>
<form class="controls" role="search">
<input id="search" type="search" placeholder="Search, or /regex/" aria-label="Search functions"
 autocomplete="off" spellcheck="false">
<button id="reset" type="button" title="Show everything (Esc)">Reset zoom</button>
<button id="theme" type="button" title="Light or dark">Theme</button>
</form>
<div id="found" role="status" aria-live="polite"></div>
<ul id="legend" aria-label="Colours of libraries"></ul>
</header>
<main>
<canvas id="graph" tabindex="0" role="img"
 aria-label="Flame graph. Arrow keys go from box to box, Enter zooms in, Escape shows everything."></canvas>
</main>
<div id="tip" hidden></div>
<footer>
<div id="details" role="status" aria-live="polite">Point at a box to see what it is.</div>
<div class="keys"><kbd>click</kbd>/<kbd>Enter</kbd> zoom <kbd>\u2190\u2191\u2192\u2193</kbd> move <kbd>Backspace</kbd> out
<kbd>Esc</kbd> all <kbd>/</kbd> search</div>
</footer>
<script id="data" type="application/json">@DATA@<\/script>
<script>"use strict";
// Draws the boxes of #data on a canvas. A box is a number; data.boxes has a column for each property.
// Box 0 is all; callers come before callees, and what is at the left before what is at the right.
// view: what of the whole the width of the canvas shows, in the data's unit.

const data = JSON.parse(document.getElementById("data").textContent);
const { name, row, start, width, self } = data.boxes;
const inlined = new Set(data.boxes.inlined);
const count = name.length, total = width[0];
const ROW = 18, NARROWEST = 0.5, FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, monospace';

const byId = (id) => document.getElementById(id);
const canvas = byId("graph"), pen = canvas.getContext("2d"), tip = byId("tip");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// The boxes of each row, from left to right.
const rows = [];
for (let box = 0; box < count; box++) (rows[row[box]] ||= []).push(box);

let view = { from: 0, to: total }, zoomed = 0, chosen = -1, hovered = -1, matches = null, frame = 0;

const NAME = 0, FULL = 1, LIBRARY = 2, WHERE = 3, COLOURS = 4, SHORTER = 5;
const named = (box) => data.names[name[box]];
const end = (box) => start[box] + width[box];

// The first place in a row whose box ends after that.
function firstAfter(boxes, at) {
  let low = 0, high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(boxes[middle]) > at) high = middle; else low = middle + 1;
  }
  return low;
}

function boxAt(level, at) {
  const boxes = rows[level];
  if (!boxes) return -1;
  const box = boxes[firstAfter(boxes, at)];
  return box !== undefined && start[box] <= at ? box : -1;
}

const callerOf = (box) => (box > 0 ? boxAt(row[box] - 1, start[box]) : -1);

function share(value, of = total) {
  return of ? \`\${(100 * value / of).toFixed(value && value / of < 0.001 ? 3 : 1)} %\` : "0 %";
}

function amount(value) {
  if (data.unit === "samples") return \`\${value.toLocaleString("en")} sample\${value === 1 ? "" : "s"}\`;
  if (value >= 1e6) return \`\${(value / 1e6).toFixed(2)} s\`;
  return value >= 1e3 ? \`\${(value / 1e3).toFixed(1)} ms\` : \`\${value} us\`;
}

// The more of a box is its own, the stronger.
function fillOf(box) {
  const colours = named(box)[COLOURS];
  return colours[Math.floor((colours.length - 1) * self[box] / (width[box] || 1) + 0.5)];
}

// The longest of its names that fits, else the right end of the shortest.
function label(box, letters) {
  const names = [named(box)[NAME], ...named(box)[SHORTER]];
  return names.find(({ length }) => length <= letters) ?? \`\u2026\${names.at(-1).slice(1 - letters)}\`;
}

function draw() {
  frame = 0;
  const dense = devicePixelRatio || 1, wide = canvas.clientWidth;
  const pixels = [Math.round(wide * dense), Math.round(rows.length * ROW * dense)];
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, wide, rows.length * ROW);
  pen.font = FONT;
  pen.textBaseline = "middle";
  const letter = pen.measureText("m").width, scale = wide / Math.max(view.to - view.from, 1e-9);
  rows.forEach((boxes, level) => drawRow(boxes, level, scale, wide, letter));
  for (const [box, line] of [[hovered, 1.5], [chosen, 2.5]]) if (box >= 0) outline(box, scale, wide, line);
}

function drawRow(boxes, level, scale, wide, letter) {
  const y = level * ROW;
  for (let at = firstAfter(boxes, view.from); at < boxes.length; at++) {
    const box = boxes[at];
    if (start[box] >= view.to) break;
    const hit = matches && matches.has(box); // what is found shows, however narrow it is
    if (width[box] * scale < NARROWEST && !hit) continue;
    const left = Math.max((start[box] - view.from) * scale, 0);
    const right = Math.min((end(box) - view.from) * scale, wide);
    const shown = Math.max(right - left - 0.7, hit ? 2 * NARROWEST : NARROWEST);
    const around = level < row[zoomed];
    pen.globalAlpha = matches && !hit ? 0.25 : around ? 0.6 : 1;
    pen.fillStyle = hit ? "#c04df0" : fillOf(box);
    pen.fillRect(left, y, shown, ROW - 1);
    const letters = Math.floor((shown - 6) / letter);
    if (letters < 3) continue;
    pen.globalAlpha = 1;
    pen.fillStyle = hit ? "#ffffff" : matches ? getComputedStyle(document.body).color : "#141414";
    pen.fillText(label(box, letters), left + 3, y + ROW / 2);
  }
  pen.globalAlpha = 1;
}

function outline(box, scale, wide, line) {
  const left = Math.max((start[box] - view.from) * scale, 0);
  const right = Math.min((end(box) - view.from) * scale, wide);
  if (right <= left) return;
  pen.strokeStyle = getComputedStyle(document.body).color;
  pen.lineWidth = line;
  pen.strokeRect(left + line / 2, row[box] * ROW + line / 2, Math.max(right - left - line, 1), ROW - 1 - line);
}

function redraw() {
  frame ||= requestAnimationFrame(draw);
}

function zoom(box) {
  zoomed = box;
  byId("reset").disabled = box === 0;
  const from = { ...view }, to = { from: start[box], to: end(box) }, began = performance.now();
  const step = (now) => {
    const part = calm.matches ? 1 : Math.min((now - began) / 160, 1), soft = 1 - (1 - part) ** 3;
    view = { from: from.from + (to.from - from.from) * soft, to: from.to + (to.to - from.to) * soft };
    draw();
    if (part < 1 && zoomed === box) requestAnimationFrame(step);
  };
  step(began);
  count_found();
}

// What is found, and the share of those boxes that stand in no other one of them.
let wanted = null;
function search(text) {
  const found = byId("found");
  found.className = "";
  wanted = null;
  if (text) {
    const pattern = /^\\/(.+)\\/$/.exec(text);
    try {
      const test = pattern ? new RegExp(pattern[1], "i") : null, low = text.toLowerCase();
      wanted = data.names.map(([short, full]) =>
        test ? test.test(short) || test.test(full) : \`\${short}\\n\${full}\`.toLowerCase().includes(low));
    } catch (error) {
      found.className = "bad";
      found.textContent = \`No regular expression: \${error.message}\`;
    }
  }
  matches = wanted && new Set();
  if (wanted) for (let box = 1; box < count; box++) if (wanted[name[box]]) matches.add(box);
  if (wanted || !text) count_found();
  redraw();
}

function count_found() {
  if (!wanted) {
    if (byId("found").className !== "bad") byId("found").textContent = "";
    return;
  }
  const functions = new Set(), from = start[zoomed], to = end(zoomed);
  let sum = 0, until = from;
  // Callers come before callees, and boxes from left to right: what begins before that is inside.
  for (let box = 1; box < count; box++) {
    if (!matches.has(box) || end(box) <= from || start[box] >= to) continue;
    functions.add(name[box]);
    if (start[box] >= until) {
      until = Math.min(end(box), to);
      sum += until - Math.max(start[box], from);
    } else if (start[box] < from) {
      sum = to - from;
      until = to;
    }
  }
  const where = zoomed ? \`, \${share(sum, to - from)} of what is shown\` : "";
  const functionWord = functions.size === 1 ? "function" : "functions";
  byId("found").textContent = functions.size
    ? \`\${share(sum)} of all\${where}: \${amount(sum)} in \${functions.size} \${functionWord}\`
    : "Nothing is called so.";
}

function facts(box) {
  const [, , library, where] = named(box), caller = callerOf(box);
  const lines = [];
  if (library) lines.push(library);
  if (where) lines.push(where);
  if (inlined.has(box)) lines.push("inlined into its caller");
  let shares = \`total \${share(width[box])}, \${amount(width[box])}\`;
  if (caller > 0) shares += \`, \${share(width[box], width[caller])} of its caller\`;
  lines.push(shares, \`self \${share(self[box])}, \${amount(self[box])}\`);
  return lines;
}

const longName = (box) => named(box)[FULL] || named(box)[NAME];

function tell(box) {
  byId("details").textContent = box < 0 ? "Point at a box to see what it is."
    : [longName(box), ...facts(box)].join(" \xB7 ");
}

function hover(box, x, y) {
  tip.hidden = box < 0;
  if (box !== hovered) {
    hovered = box;
    tell(box < 0 ? chosen : box);
    tip.replaceChildren();
    if (box >= 0) {
      const title = document.createElement("b");
      title.textContent = longName(box);
      tip.append(title, ...facts(box).map((line) => {
        const part = document.createElement("div");
        part.textContent = line;
        return part;
      }));
    }
    redraw();
  }
  if (box < 0) return;
  const beside = x + 16 + tip.offsetWidth > innerWidth ? innerWidth - tip.offsetWidth - 8 : x + 16;
  const below = y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 18;
  tip.style.left = \`\${Math.max(beside, 8)}px\`;
  tip.style.top = \`\${Math.max(below, 8)}px\`;
}

function boxUnder(event) {
  const area = canvas.getBoundingClientRect();
  const at = view.from + (event.clientX - area.left) / area.width * (view.to - view.from);
  return boxAt(Math.floor((event.clientY - area.top) / ROW), at);
}

function choose(box) {
  if (box < 0) return;
  chosen = box;
  tell(box);
  const area = canvas.getBoundingClientRect(), top = area.top + row[box] * ROW;
  const head = document.querySelector("header").offsetHeight;
  const foot = innerHeight - document.querySelector("footer").offsetHeight - ROW;
  if (top < head) scrollBy(0, top - head - ROW);
  else if (top > foot) scrollBy(0, top - foot + ROW);
  redraw();
}

function beside(box, step) {
  const boxes = rows[row[box]], next = boxes[boxes.indexOf(box) + step];
  return next !== undefined && start[next] < view.to && end(next) > view.from ? next : -1;
}

// Of the callees the widest, which is the leftmost.
function below(box) {
  const boxes = rows[row[box] + 1];
  if (!boxes) return -1;
  const callee = boxes[firstAfter(boxes, start[box])];
  return callee !== undefined && start[callee] < end(box) ? callee : -1;
}

const KEYS = {
  ArrowDown: () => choose(chosen < 0 ? zoomed : below(chosen)),
  ArrowUp: () => choose(callerOf(chosen)),
  ArrowLeft: () => chosen >= 0 && choose(beside(chosen, -1)),
  ArrowRight: () => chosen >= 0 && choose(beside(chosen, 1)),
  Enter: () => chosen >= 0 && zoom(chosen),
  Backspace: () => zoomed && zoom(callerOf(zoomed)),
};

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== byId("search")) {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key === "Escape") {
    byId("search").value = "";
    search("");
    zoom(0);
    canvas.focus({ preventScroll: true });
  }
});
canvas.addEventListener("pointermove", (event) => hover(boxUnder(event), event.clientX, event.clientY));
canvas.addEventListener("pointerleave", () => hover(-1));
canvas.addEventListener("click", (event) => {
  const box = boxUnder(event);
  if (box < 0) return;
  choose(box);
  zoom(box);
});
byId("search").addEventListener("input", (event) => search(event.target.value.trim()));
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", () => zoom(0));
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  redraw();
});

byId("legend").append(Object.assign(document.createElement("li"), { textContent: "Self by library:" }));
for (const [library, own, colour] of [...data.legend, ["others", null, data.others]]) {
  const entry = document.createElement("li"), mark = document.createElement("i");
  mark.style.background = colour;
  entry.append(mark, own === null ? library : \`\${library} \${share(own)}\`);
  byId("legend").append(entry);
}
byId("reset").disabled = true;
canvas.style.height = \`\${rows.length * ROW}px\`;
new ResizeObserver(redraw).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
draw();
<\/script>
</body>
</html>
`;function wo(t){let e=t.samples.cpu_ns.data;return t.unit()==="samples"?()=>1:n=>Math.round(e[n]/1e3)}function xt({profile:t,places:e}){let{threads:n,samples:s,processNames:o}=t,r=new Set(Array.from(e,i=>n[s.thread.data[i]].pid));return new Map(Array.from(r,i=>[i,`${o.get(i)??"process"} (${i})`]))}function qn(t){let e=Array.from(xt(t),([o,r],i)=>xo(t,o,r,-1-i));e.sort((o,r)=>r.root.total-o.root.total);let n=[],s=0;for(let{root:o,calleesOf:r}of e){let i=[{box:{...o,start:s},node:0}];s+=o.total;for(let l=i.pop();l;l=i.pop()){let{box:a,node:c}=l;if(!a.total)continue;n.push(a);let{start:m}=a,u=r(c).map(({node:d,...h})=>{let p={box:{...h,row:a.row+1,start:m},node:d};return m+=h.total,p});i.push(...u.reverse())}}return n}function xo({profile:t,places:e},n,s,o){let{calls:r,callOf:i,functions:l,libraries:a,samples:c,threads:m}=t,{parents:u,inlined:d,length:h}=r,p=new Float64Array(h),w=wo(t);for(let b of e)m[c.thread.data[b]].pid===n&&(p[i[c.stack.data[b]]]+=w(b));let x=p.slice(),S=new Map;for(let b=h-1;b>0;b--){if(!x[b])continue;let y=u[b];x[y]+=x[b];let P=S.get(y);P?P.push(b):S.set(y,[b])}let g=b=>({self:p[b],total:x[b],row:0,start:0}),v=b=>{let y=r.functions[b],{name:P,library:be}=l[y],Qe={fn:y,name:P,library:a[be]?.name??""};return{node:b,...Qe,inlined:d[b]===1,...g(b)}};return{root:{name:s,library:"",fn:o,inlined:!1,...g(0)},calleesOf:b=>(S.get(b)??[]).map(v).sort(yo)}}function yo(t,e){return e.total-t.total||Yn(t.name,e.name)||Yn(`${t.fn}`,`${e.fn}`)||+t.inlined-+e.inlined}function Yn(t,e){return t<e?-1:t>e?1:0}var es=xe[xe.length-1],vo=.01,ko={"&":"&amp;","<":"&lt;",">":"&gt;",'"':"&quot;","'":"&#x27;"},Zn=t=>t.replace(/[&<>"']/g,e=>ko[e]);function ts(t){let e={TITLE:Zn(So(t)),SUMMARY:_o(t).map(n=>`<p>${Zn(n)}</p>`).join(""),DATA:JSON.stringify(Oo(t)).replaceAll("<","\\u003c")};return Xn.replace(/@([A-Z]+)@/g,(n,s)=>e[s]??n)}function So(t){let e=[...xt(t).values()],n=e.length>3?` and ${e.length-3} more`:"";return e.slice(0,3).join(", ")+n||"profile"}function _o(t){let{profile:e,places:n}=t,{cpu_ns:s,thread:o,whole:r}=e.samples,i=[Qn(n.length,"sample")],l=n.reduce((d,h)=>d+Math.round(s.data[h]/1e3),0);l&&i.push(`${yt(l)} of CPU time`),e.period_us&&i.push(`one per ${yt(e.period_us)}`);let{first_us:a,last_us:c}=G(t);c>a&&i.push(`over ${yt(c-a)}`),i.push(Qn(new Set(Array.from(n,d=>o.data[d])).size,"thread"));let m=[i.join(" \xB7 ")],u=n.reduce((d,h)=>d+(r.data[h]?0:1),0);if(u>=Math.max(1,vo*n.length)){let d=(100*u/n.length).toFixed(1);m.push(`${d} % of the stacks are truncated: they do not reach the thread's start`)}return m}var vt=t=>t.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g,","),Qn=(t,e)=>`${vt(`${t}`)} ${e}${t===1?"":"s"}`;function yt(t){return t>=1e6?`${vt((t/1e6).toFixed(2))} s`:t>=1e3?`${vt((t/1e3).toFixed(1))} ms`:`${t} us`}function Oo(t){let e=qn(t),{legend:n,colourOf:s}=Mo(e),o=new kt(t.profile,s),r={name:[],row:[],start:[],width:[],self:[]},i=(...m)=>Object.values(r).forEach((u,d)=>u.push(m[d])),l=e.filter(({row:m})=>!m),a=l.length!==1,c=l.reduce((m,{total:u})=>m+u,0);a&&i(o.ofAll(),0,0,c,0);for(let m of e)i(o.of(m),m.row+ +a,m.start,m.total,m.self);return{unit:t.profile.unit()==="time"?"us":"samples",legend:n,others:es,names:o.rows,boxes:{...r,inlined:e.flatMap((m,u)=>m.inlined?[u+ +a]:[])}}}var kt=class{constructor(e,n){this.profile=e;this.colourOf=n}profile;colourOf;rows=[];#e=new Map;ofAll(){return this.rows.push(["all","","","",[es],[]])-1}of(e){let n=this.#e.get(e.fn);return n===void 0&&(n=this.rows.push(this.#n(e))-1,this.#e.set(e.fn,n)),n}#n({fn:e,name:n,library:s}){let o=this.colourOf(s),r=[];for(let m=0;m<=Qt;m++)r.push(en(o,n,m));let i=Ut(n).slice(1);if(e<0)return[n,"","","",r,i];let{file:l,line:a}=this.profile.functions[e],c=l&&a?`${l}:${a}`:l;return[n,"",I(this.profile,e),c,r,i]}};function Mo(t){let e=new Map;for(let{library:r,self:i}of t)r&&e.set(r,(e.get(r)??0)+i);let n=jt(e),s=r=>xe[n.get(r)??xe.length-1];return{legend:[...e].filter(([r])=>n.has(r)).sort(([r,i],[l,a])=>a-i||(r<l?-1:1)).map(([r,i])=>[r,i,s(r)]),colourOf:s}}function ns({profile:t,places:e}){let{samples:n,threads:s,processNames:o}=t,r=new Map,i=l=>{let a=r.get(l);if(a===void 0){let c=ee(t,l).map(m=>{let u=t.functionAt(m),d=I(t,u).trim().replace(/\s+/g,"_")||"[unknown]",h=t.isInlined(m)?"inlined":d;return`	${"0".padStart(16)} ${Se(t.functions[u].name)}+0x0 (${h})
`});r.set(l,a=`${c.join("")}
`)}return a};return Array.from(e,l=>{let{pid:a,tid:c,name:m}=s[n.thread.data[l]],u=Se(m||o.get(a)||"")||"unknown",d=Math.round(n.time_us.data[l]),h=`${Math.floor(d/1e6)}.${String(d%1e6).padStart(6,"0")}`,p=String(Math.round(n.cpu_ns.data[l])).padStart(10);return`${u}  ${a}/${c}  ${h}: ${p} cpu-clock: 
${i(n.stack.data[l])}`}).join("")}function ss(t){return new St(t).message()}var St=class{constructor(e){this.chosen=e}chosen;#e=new Map([["",0]]);#n=new Map;#r=new Map;#o=new Map;#a=new Map;#s=new U;message(){let{chosen:e}=this,{first_us:n,last_us:s}=G(e),o=new U,r=this.#l("cpu","nanoseconds");this.#f($o(e.profile)),o.data(M.sampleType,this.#l("samples","count")).data(M.sampleType,r),this.#c(o),o.number(M.duration_ns,Math.round((s-n)*1e3)).data(M.periodType,r).number(M.period,e.profile.period_us*1e3).number(M.defaultType,this.#t("cpu"));let i=new TextEncoder;for(let m of this.#e.keys())o.data(M.string,i.encode(m));let[l,a]=[o.bytes(),this.#s.bytes()],c=new Uint8Array(l.length+a.length);return c.set(l),c.set(a,l.length),c}#t(e){let n=this.#e.get(e);return n===void 0&&this.#e.set(e,n=this.#e.size),n}#l(e,n){return new U().number(re.type,this.#t(e)).number(re.unit,this.#t(n)).bytes()}#c(e){let{profile:n,places:s}=this.chosen,{stack:o,thread:r,tag:i,state:l,whole:a,cpu_ns:c}=n.samples,m=new Ce,u=new Ce,d=new Ce,h=new It,p=[];for(let w of s){let x=m.intern(r.data[w],i.data[w]),S=u.intern(x,2*l.data[w]+a.data[w]),g=d.intern(o.data[w],S);g===h.length&&(h.push(0),p.push(0)),h.data[g]++,p[g]+=c.data[w]}for(let w=0;w<d.length;w++){let x=d.b.data[w],S=u.a.data[x],{pid:g,tid:v,name:b}=n.threads[m.a.data[S]],y=new U;y.packed(te.location,this.#u(d.a.data[w])).packed(te.value,[h.data[w],Math.round(p[w])]),this.#i(y,"thread",b),this.#i(y,"tid","",v),this.#i(y,"process",n.processNames.get(g)??""),this.#i(y,"pid","",g),this.#i(y,"tag",n.tags.texts[m.b.data[S]]),this.#i(y,"state",n.states.texts[u.b.data[x]>>1]),this.#i(y,"stack",u.b.data[x]&1?"":"cut"),e.data(M.sample,y.bytes())}}#i(e,n,s,o=0){if(!s&&!o)return;let r=new U;r.number(ne.key,this.#t(n)).number(ne.text,this.#t(s)).number(ne.number,o),e.data(te.label,r.bytes())}#u(e){let n=this.#a.get(e);if(n)return n;let{profile:s}=this.chosen,o=[],r=[],i=ee(s,e);return i.forEach((l,a)=>{r.push(l),!(s.isInlined(l)&&a+1<i.length)&&(o.push(this.#m(r)),r=[])}),this.#a.set(e,o),o}#m(e){let n=e.join(),s=this.#o.get(n);if(s!==void 0)return s;this.#o.set(n,s=this.#o.size+1);let{profile:o}=this.chosen,r=o.functionAt(e[e.length-1]),i=new U().number(X.id,s).number(X.mapping,this.#f(I(o,r)));for(let l of e){let a=new U().number(de.function,this.#d(o.functionAt(l))).number(de.line,o.linePlace(l).line);i.data(X.line,a.bytes())}return this.#s.data(M.location,i.bytes()),s}#d(e){let n=this.#r.get(e);if(n!==void 0)return n;this.#r.set(e,n=this.#r.size+1);let{name:s,file:o,line:r}=this.chosen.profile.functions[e],i=new U().number(B.id,n).number(B.name,this.#t(s)).number(B.systemName,this.#t(s)).number(B.file,this.#t(o)).number(B.line,r);return this.#s.data(M.function,i.bytes()),n}#f(e){if(!e)return 0;let n=this.#n.get(e);if(n!==void 0)return n;this.#n.set(e,n=this.#n.size+1);let s=new U().number(ie.id,n).number(ie.file,this.#t(e));for(let o of ie.has)s.number(o,1);return this.#s.data(M.mapping,s.bytes()),n}};function $o({libraries:t,processNames:e}){let n=new Set(e.values()),s=t.find(({name:o})=>n.has(o));return s?s.path||s.name:""}var To="https://www.speedscope.app/file-format-schema.json";function os(t,e){let{profile:n,places:s}=t,{time_us:o}=n.samples,r=new Map,i=fe(t),l=me(n),a=s.reduce((w,x)=>Math.min(w,o.data[x]-l(x)),1/0),{first_us:c,last_us:m}=G(t),u=Po(n,r),d={zero_us:a,hasGaps:c<m,widthOf:l},h=i.map(w=>Ao(n,w,d,u)),p=[...r.keys()].map(w=>Co(n,w));return JSON.stringify({$schema:To,exporter:"isoscope",name:e,_isoscope:{period:n.period_us,processes:Object.fromEntries(n.processNames)},activeProfileIndex:Ve(i,l),profiles:h,shared:{frames:p}})}function Po(t,e){let n=new Map,s=o=>{let r=e.get(o);return r===void 0&&e.set(o,r=e.size),r};return o=>{let r=n.get(o);return r||n.set(o,r=Je(t,o).map(s)),r}}function Ao(t,{number:e,places:n},s,o){let{stack:r,time_us:i,cpu_ns:l,state:a}=t.samples,c=[],m=[],u=[],d=[],h=0,p=(g,v,b=-1)=>{u.push(b<0?0:l.data[b]/1e3),d.push(b<0?"":t.states.texts[a.data[b]]),c.push(g),m.push(v),h+=v};for(let g of n){let v=s.widthOf(g),b=i.data[g]-v-s.zero_us-h;s.hasGaps&&b>t.period_us/2&&p([],b),p(o(t.callOf[r.data[g]]),v,g)}let{pid:w,tid:x,name:S}=t.threads[e];return{type:"sampled",name:`${S||"thread"} (pid ${w}, tid ${x})`,unit:"microseconds",startValue:0,endValue:h,samples:c,weights:m,...t.unit()==="samples"?{_cpuMicros:u,_states:d}:{}}}function Co(t,e){let{name:n,file:s,line:o}=t.functions[e];if(s)return o?{name:n,file:s,line:o}:{name:n,file:s};let r=I(t,e);return r?{name:n,file:r}:{name:n}}function W(t,e,n){return{suffix:t,summary:e,write:n}}var Te={html:W(".html","one page to share: a flame graph to zoom and search in",ts),speedscope:W(".speedscope.json","speedscope.app",os),firefox:W(".firefox.json","profiler.firefox.com",Kn),pprof:W(".pb.gz","go tool pprof",t=>Ro(ss(t))),folded:W(".folded.txt","folded stacks, for flamegraph.pl",Cn),perf:W(".perf.txt","text as perf script prints it",ns),devtools:W(".devtools.json","Dart DevTools, offline",Vn),cpuprofile:W(".cpuprofile","Chrome DevTools, VS Code; the busiest thread",Dn),csv:W(".csv","a row per function, for spreadsheets",zn),"csv-samples":W(".samples.csv","a row per sample, for spreadsheets",jn),cpusamples:W(".cpusamples.json","everything, for this page",Fn)};async function Eo(t,e,n,s){return Te[n].write(Tn(t,e),s)}async function Ro(t){let e=new Blob([t]).stream().pipeThrough(new CompressionStream("gzip"));return new Uint8Array(await new Response(e).arrayBuffer())}var Pe=12;function pe(t){return t.column_us/$}function he(t,e){let n=Math.floor((e-t.origin_us)/pe(t)+1e-6);return Math.max(0,Math.min(t.cells.length-1,n))}function Ot(t,e,n){let s=o=>Math.round(t.origin_us+o*pe(t));return[s(Math.min(e,n)),s(Math.max(e,n)+1)]}function rs(t,{left:e,width:n,top:s,height:o},r,i){let l=(c,m)=>Math.max(0,Math.min(m-1,Math.floor(c*m)));return l((r-e)/n,t.columns)*$+l((s+o-i)/o,$)}function Mt(t){let e=t/Pe;return`oklch(${(Be.value?.3+.56*e:.95-.53*e).toFixed(3)} ${(.03+.14*e).toFixed(3)} 45)`}function is(t,e,n){let s=r=>Math.max(0,Math.min(n-1,r));return{ArrowUp:()=>s(e+1),ArrowDown:()=>s(e-1),ArrowRight:()=>e+$<n?e+$:e,ArrowLeft:()=>e>=$?e-$:e,Home:()=>0,End:()=>n-1}[t]?.()}function as(t,e,n,s){let o=p=>Math.round(e.top+e.height-p*e.height/$),[r,i]=[Math.floor(n/$),Math.floor(s/$)],[l,a]=[o(n-r*$),o(s+1-i*$)],[c,m,u,d]=[r,r+1,i,i+1].map(p=>_t(t,e,p)),h=new Path2D;if(r===i)h.rect(c,a,d-c,l-a);else{let[p,w]=[o($),o(0)];h.moveTo(c,l);for(let[x,S]of[[c,p],[u,p],[u,a],[d,a],[d,w],[m,w],[m,l]])h.lineTo(x,S);h.closePath()}return h}function _t(t,e,n){return Math.round(hn(e,t.origin_us+n*t.column_us))}function ls(t,e,n){let{top:s,height:o}=n,r=Array.from({length:Pe+1},(l,a)=>Mt(a)),i=Array.from({length:$+1},(l,a)=>Math.round(s+o-a*o/$));for(let l=0;l<e.columns;l++){let[a,c]=[_t(e,n,l),_t(e,n,l+1)],m=c-a>3?1:0;for(let u=0;u<$;u++){let d=e.cells[l*$+u];d&&(t.fillStyle=r[Math.ceil(d/e.most*Pe)],t.fillRect(a,i[u+1],c-a-m,i[u]-i[u+1]))}}}function cs(t,e,n,[s,o],r){let i=new Path2D;i.rect(n.left,n.top,n.width,n.height);let l=as(e,n,s,o);i.addPath(l),t.globalAlpha=.6,t.fillStyle=r.paper,t.fill(i,"evenodd"),t.globalAlpha=1,t.strokeStyle=r.states[0],t.stroke(l)}function us(t,e,n,s,o){t.strokeStyle=o.pick,t.lineWidth=2,t.stroke(as(e,n,s,s)),t.lineWidth=1}var Tt=56,$t=20,Xe=8,No=5,fs="heat-cell",Io="Heat map: CPU time within seconds. Arrows go from cell to cell, with Shift they mark a range, Enter selects it.";function Pt(t){return t<1e6?`${+(t/1e3).toFixed(1)} ms`:`${+(t/1e6).toFixed(1)} s`}function ds(t,[e,n]){let s=N.value?.extent_us?.[0]??t.origin_us,o=Math.max(1,Math.ceil(6-Math.log10(pe(t))));return`${[e,n].map(r=>((r-s)/1e6).toFixed(o)).join(" \u2013 ")} s`}function ms(t,e,n){let s=Ot(t,e,n),o=0;for(let l=Math.min(e,n);l<=Math.max(e,n);l++)o+=t.cells[l];let r=(o/(1e3*(s[1]-s[0]))).toFixed(2),i=T([`${oe(o)} samples`],[`${ye(o)} CPU time`,`${r} CPUs in use`]);return[ds(t,s),...i]}function Lo(){let t=rt(null),{width:e,height:n}=sn(t),s=Math.max(10,Math.floor((e-Tt-Xe)/No)),{window_us:o,...r}=A.value.filter,i={...A.value,filter:r,range_us:O.value.overview,maxColumns:s},l=H("heat",e?i:null);return f("div",{class:"stacked",children:[f(Fo,{map:l}),f("div",{class:"rest",ref:t,children:[l&&l.most>0&&f(Bo,{map:l,width:e,height:n}),(l?.most===0||N.value?.samples===0)&&f(Z,{})]})]})}function Fo({map:t}){if(!t?.most)return f("div",{class:"bar-of-view"});let{window_us:e}=O.value.filter,n=Array.from({length:Pe},(s,o)=>Mt(o+1));return f("div",{class:"bar-of-view",children:[f("span",{children:["0 ",f("i",{class:"heat-scale",style:{background:`linear-gradient(to right, ${n})`}})," ",T(`${oe(t.most)} ${t.most===1?"sample":"samples"}`,`${ye(t.most)} CPU time`)," per cell"]}),f("span",{class:"faint",children:["column: ",Pt(t.column_us),", cell: ",Pt(pe(t))]}),e&&f("span",{children:["selected: ",ds(t,e)]})]})}function Bo({map:t,width:e,height:n}){let[s,o]=D(null),r=rt(null),{window_us:i}=O.value.filter,l=N.value?.extent_us?.[0]??t.origin_us,a={from_us:t.origin_us,to_us:t.origin_us+t.columns*t.column_us,zero_us:l,left:Tt,width:Math.max(1,e-Tt-Xe),top:Xe,height:Math.max($,n-Xe-$t)},c=g=>t.origin_us+(g+.5)*pe(t),m=g=>rs(t,a,g.offsetX,g.offsetY),u=s&&he(t,s.anchor_us),d=s&&he(t,s.cursor_us),p=u!==null&&d!==null&&u!==d?[Math.min(u,d),Math.max(u,d)]:i&&i[1]>a.from_us&&i[0]<a.to_us?[he(t,i[0]),he(t,i[1]-1)]:null,w=(g,v)=>{let b=Ot(t,g,v),y=String(b)===String(O.value.filter.window_us);gn(y?null:b,!0),o({anchor_us:c(v),cursor_us:c(v),by:"keys"})},x=()=>{let g=r.current,v=m(g),b=s?.by==="drag"?u:v;je.value={x:g.clientX,y:g.clientY,lines:ms(t,b,v)}};z(()=>{r.current&&x()},[t,s]),z(()=>()=>{je.value=null},[]);let S=g=>{if(g.ctrlKey||g.altKey||g.metaKey)return;let v=d??p?.[0]??he(t,a.from_us),b=is(g.key,v,t.cells.length);if(b!==void 0){let y=g.shiftKey?s?.anchor_us??c(v):c(b);o({anchor_us:y,cursor_us:c(b),by:"keys"})}else if(g.key==="Enter"&&d!==null)w(u,d);else if(g.key==="Escape"&&s)o(null);else return;g.preventDefault()};return f(mn,{class:"heat",tabIndex:0,role:"grid","aria-label":Io,"aria-activedescendant":d===null?void 0:fs,pixels:[e,n],of:[t,u,d,String(p),l,F.value],draw:g=>{Uo(g,t,a),bn(g,a,F.value,[a.top,n-$t+4],n-$t/2),ls(g,t,a),p&&cs(g,t,a,p,F.value),d!==null&&us(g,t,a,d,F.value)},onKeyDown:S,onPointerDown:g=>{if(g.button!==0)return;g.currentTarget.setPointerCapture(g.pointerId);let v=c(m(g)),b=g.shiftKey&&s?s.anchor_us:v;o({anchor_us:b,cursor_us:v,by:"drag"})},onPointerMove:g=>{r.current=g,s?.by==="drag"&&o({...s,cursor_us:c(m(g))}),x()},onPointerUp:()=>{s?.by==="drag"&&w(u,d)},onPointerCancel:()=>o(null),onPointerLeave:()=>{r.current=je.value=null},children:d!==null&&f("span",{role:"row",children:f("span",{id:fs,role:"gridcell","aria-selected":!0,children:ms(t,u,d).join(", ")})})})}function Uo(t,e,{left:n,top:s,height:o}){t.font=pn,t.textBaseline="middle",t.textAlign="right",t.fillStyle=F.value.faint;for(let r of o>160?[0,.2,.4,.6,.8,1]:[0,.5,1])t.fillText(Pt(r*e.column_us),n-6,Math.max(s+2,s+o*(1-r)));t.textAlign="left"}var Ae=1200,Ye=18,Do=26,zo=22,jo=7,Wo=6.6,Ho=.3,Jo={"&":"&amp;","<":"&lt;",">":"&gt;",'"':"&quot;"};function qe(t){return t.replace(/[&<>"]/g,e=>Jo[e]).replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,"\uFFFD")}function ps(t){let{boxes:e,range:n,rootBelow:s}=t,o=Ae/(n.to-n.from),r=Go(t),i=Do+(t.legend.length?zo:0),l=i+r*Ye,a=[],c=0;for(let u=0;u<r;u++){let d=s?l-(u+1)*Ye:i+u*Ye;for(let h=ot(e,u,n.from);h<e.rows[u+1]&&!(e.x[h]>=n.to);h++){let p=Math.max(0,(e.x[h]-n.from)*o),w=Math.min(Ae,(e.x[h]+e.width[h]-n.from)*o);w-p<Ho?c++:a.push(Ko(t,h,p,w-p,d))}}let m=c?`; ${c} frames too thin to be drawn`:"";return`<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${Ae}" height="${l}" viewBox="0 0 ${Ae} ${l}" font-family="system-ui, sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${t.paper}"/>
<text x="4" y="17" fill="${t.text}">${qe(t.title+m)}</text>
${Vo(t)}${a.join(`
`)}
</svg>
`}function Vo({legend:t,text:e}){let n=4,s=[];for(let[o,r]of t){let i=24+jo*o.length;if(n+i>Ae)break;s.push(`<rect x="${n}" y="26" width="12" height="12" fill="${r}"/><text x="${n+16}" y="36" fill="${e}">${qe(o)}</text>
`),n+=i}return s.join("")}function Go({boxes:t,range:e}){for(let n=0;n+1<t.rows.length;n++){let s=ot(t,n,e.from);if(s>=t.rows[n+1]||t.x[s]>=e.to)return n}return t.rows.length-1}function Ko(t,e,n,s,o){let r=Dt(t.label(e),Math.floor((s-6)/Wo)),i=r?`<text x="${(n+3).toFixed(1)}" y="${o+13}" fill="${t.letters}">${qe(r)}</text>`:"",l=`<rect x="${n.toFixed(1)}" y="${o}" width="${Math.max(.3,s-.5).toFixed(1)}" height="${Ye-1}" fill="${t.fill(e)}"/>`;return`<g><title>${qe(t.tip(e))}</title>${l}${i}</g>`}var At=1600,Xo=8e3,Ze=2;function hs(){return q().ask("flame",{...A.value,order:Le.value,inverted:O.value.inverted,colour:O.value.colour})}async function bs(t){let e=await hs(),{zoom:n,rootBelow:s}=O.value,o=i=>j(i," samples"),r=ve(e,null,"");return ps({boxes:e,range:lt(e,n),rootBelow:s,legend:yn(we.value).map(({text:i,slot:l,share:a})=>[a?`${i} ${a}`:i,tn(l,we.value.by)]),title:`${t}: ${o(e.whole)}`,text:F.value.text,letters:nn,paper:F.value.paper,fill:r.fill,label:r.label,tip:i=>{let[l,a]=[e.fn[i],e.width[i]];return`${ge(l)} (${Xt(l).name}) ${o(a)}, ${J(a,e.whole)}`}})}async function gs(){let t=await hs(),{zoom:e,rootBelow:n,picked:s}=O.value,o=Math.min(Xo,Math.max(1,ln(t))*an),r=document.createElement("canvas");r.width=Ze*At,r.height=Ze*o;let i=r.getContext("2d");i.scale(Ze,Ze),i.font="12px system-ui, sans-serif";let l={...lt(t,e),width:At,height:o,top:0,rootBelow:n};return cn(i,t,l,ve(t,null,s)),i.globalCompositeOperation="destination-over",i.fillStyle=F.value.paper,i.fillRect(0,0,At,o),new Promise((a,c)=>r.toBlob(m=>m?a(m):c(new Error("the picture is too large"))))}function Et(){return Gt.value.shown?.name.replace(/\..*$/,"")??Jt.value?.processes[0]?.name??"profile"}function Ct(t,e){let n=document.createElement("a");n.href=URL.createObjectURL(new Blob([t])),n.download=Et()+e,n.click(),setTimeout(()=>URL.revokeObjectURL(n.href),6e4)}function Yo(t){return He(`cannot save ${t}`,async()=>{let e=await q().ask("save",{...A.value,form:t,name:Et()});Ct(e,Te[t].suffix)})}function qo(){let t=(e,n,s)=>f("tr",{children:[f("td",{children:f("button",{type:"button",onClick:s,children:e})}),f("td",{class:"faint",children:n})]});return f(We,{shown:Fe,label:"Save and open",children:[f("p",{children:"Save the samples that match the filters, with complete stacks:"}),f("table",{children:Object.keys(Te).map(e=>t(e,Te[e].summary,()=>Yo(e)))}),f("p",{children:"Save the flame graph as it is shown:"}),f("table",{children:[t("SVG","a picture with names as tooltips",()=>He("cannot save the picture",async()=>Ct(await bs(Et()),".svg"))),t("PNG","a bitmap",()=>He("cannot save the picture",async()=>Ct(await gs(),".png")))]}),f("p",{children:"Open a file here, or drop it on the page:"}),f("table",{children:[t("Open\u2026","show a file instead of the program",()=>{Fe.value=!1,at("shown")}),t("Compare\u2026","compare what is shown with a file",()=>{Fe.value=!1,at("compared")})]})]})}function Zo(){return f(We,{shown:Yt,label:"Keys",children:[f("table",{children:kn.map(({keys:t,does:e})=>f("tr",{children:[f("td",{children:f("kbd",{children:t})}),f("td",{children:e})]}))}),f("p",{children:"Flame graph and flame chart: the wheel zooms at the pointer, Shift and the wheel move, Alt and the wheel scroll. Arrows go from frame to frame, Enter zooms to one, + and - zoom. Dragging moves. A click selects, a double click zooms, a right click opens a menu. Heat map: dragging selects a range, from cell to cell; a click selects a cell. Arrows go from cell to cell, Shift and arrows mark a range, Enter selects it. Back and Forward undo and redo. A percentage with ~ is of fewer than 30 samples."})]})}function Qo(t){let[e,n]=D(null),s=ae.value.state==="open";return z(()=>{if(t<0||e&&!e.reason)return;let o=!0,r=i=>o&&n(i);return q().ask("code",{fn:t}).then(r,({message:i})=>r({instructions:[],bias:0,reason:i})),()=>{o=!1}},[t,s]),e}var ws=({bytes:t})=>t.length/2;function er(t){let e=[];for(let n of t){let s=e.at(-1),o=n.offset+ws(n);s?.[1]===n.offset?s[1]=o:e.push([n.offset,o])}return e}function tr(t,e){let[n,s]=[T(e.self,e.selfTime_ns),T(e.total,e.totalTime_ns)],o=t.map(()=>({self:0,total:0,samples:0})),r=new Map(t.flatMap((i,l)=>[[i.offset,o[l]],[i.offset+ws(i)-1,o[l]]]));return e.pcs.forEach((i,l)=>{let a=r.get(i);a&&(a.self+=n[l],a.total+=s[l],a.samples+=e.total[l])}),o}function xs({fn:t}){let e=Qo(t);return t<0?f("p",{class:"empty",children:"Pick a function: its instructions stand here then."}):e?e.reason?f("p",{class:"empty",dir:"auto",children:[le.functions[t]?.name," cannot be disassembled: ",e.reason,"."]}):f(sr,{code:e,fn:t}):f("p",{class:"empty",children:"The code is being read."})}var Rt=({mnemonic:t,operands:e="",called:n})=>`${t} ${e}${n?`  <${n}>`:""}`.trim();function nr(t,e){let n=t.line?`${t.file}:${t.line}`:"no line is known",s=e?`
address 0x${(t.offset+e).toString(16)}`:"";return`${Rt(t)}
${n}${t.function?`
inlined: ${t.function}`:""}${s}
${t.bytes}`}function sr({code:t,fn:e}){let n=Y(()=>er(t.instructions),[t]),s=H("pcs",{...A.value,fn:e,ranges:n});return s&&f(or,{code:t,fn:e,pcs:s})}function or({code:t,fn:e,pcs:n}){let{instructions:s,bias:o}=t,r=Ie.value,i=Y(()=>tr(s,n),[t,n,r]),l=Y(()=>new Map(s.map((g,v)=>[g.offset,v])),[t]),a=ue(s.length),[c,m]=D(-1),u=i.reduce((g,v,b)=>v.self>i[g].self?b:g,0),[d,h]=D(u);z(()=>a.centre(u),[]);let p=T(n.whole.samples,n.whole.time_ns),w=i[u]?.self||1,x=g=>{h(g),a.reveal(g)},S=()=>s.map((g,v)=>[i[v].total?j(i[v].total):"",i[v].self?j(i[v].self):"",g.offset.toString(16),Rt(g)]);return f("div",{class:"table source",children:[f("div",{class:"head","aria-hidden":"true",children:[f("span",{class:"share",children:"total"}),f("span",{class:"share",children:"self"}),f("span",{class:"number",children:r}),f("span",{class:"line offset",children:"offset"})]}),f("div",{class:"body",ref:a.body,tabIndex:0,role:"list","aria-label":`Instructions of ${le.functions[e]?.name}`,onKeyDown:g=>a.onKey(g,d,x),onScroll:a.onScroll,onCopy:g=>ze(g,S),children:f("div",{style:{height:`${s.length*ce}px`},children:s.slice(a.first,a.last).map((g,v)=>{let b=a.first+v,y=l.get(g.target??-1)??-1,P=(b===d?" current":"")+(b===c?" target":"");return f("div",{class:`row${P}`,role:"listitem",title:nr(g,o),style:{top:`${b*ce}px`,"--heat":`${Math.round(60*i[b].self/w)}%`},onPointerEnter:()=>m(y),onPointerLeave:()=>m(-1),onClick:()=>h(b),onDblClick:()=>y>=0&&x(y),children:[f(Q,{part:i[b].total,whole:p,samples:i[b].samples}),f(Q,{part:i[b].self,whole:p,samples:i[b].samples}),f(Ue,{weight:i[b].total}),f("span",{class:"line offset",children:g.offset.toString(16)}),f("code",{children:Rt(g)})]},g.offset)})})})]})}function rr(t){let[e,n]=D(new Map),s=ae.value.state==="open";return z(()=>{if(!t||!s||e.get(t))return;let o=r=>n(i=>new Map(i).set(t,r===null?null:r.split(/\r?\n/)));q().ask("source",{file:t}).then(o,r=>{Vt.value=`source: ${r.message}`,o(null)})},[t,s]),t?e.get(t):void 0}function ir(){let{picked:t,source:e,assembly:n}=O.value,s=N.value?Ne(t):-1,o=e.of===t?e.file:"",r=H("lines",{...A.value,fn:s,file:o}),i=rr(r?.file??"");return r?r.whole.samples?f("div",{class:"stacked",children:[f("div",{class:"bar-of-view",children:[f("select",{"aria-label":"File",value:r.file,onChange:({currentTarget:l})=>L({source:{of:t,file:l.value}}),children:[!r.files.some(l=>l.file===r.file)&&f("option",{value:r.file,children:r.file||"no file is known"}),r.files.map(l=>f("option",{value:l.file,children:[l.file," \xB7 ",J(l.samples,r.whole.samples,l.samples)," self"]}))]}),f("button",{"aria-pressed":n,title:"The machine code of the picked function",onClick:()=>L({assembly:!n}),children:"Assembly"}),r.file&&ae.value.state!=="open"&&!i&&f("span",{class:"faint",children:"No text: no service is connected that could read the file."}),r.file&&ae.value.state==="open"&&i===null&&f("span",{class:"faint",children:"No text: the service gives that of files below --source-root DIR only."})]}),f("div",{class:"rest beside",children:[r.file?f("div",{children:f(ur,{lines:r,text:i??null,picked:s},r.file)}):!n&&f(ar,{fn:s}),n&&f("div",{children:f(xs,{fn:s},t)})]})]}):f(Z,{}):null}function ar({fn:t}){let e=le.functions[t];return e?f("p",{class:"empty",dir:"auto",children:["No line of ",e.name," is known: ",le.libraries[e.library].name," was built without debug data (-g), and no debug package of it is installed."]}):f("p",{class:"empty",children:"No lines are known here: there is no debug data, nor a debug package."})}function lr(t,e){let n=Array.from(t.lines,(r,i)=>({line:r,at:i,text:e?.[r-1]??""}));if(!e)return n;let s=new Map(n.map(r=>[r.line,r.at]));return[...e.map((r,i)=>({line:i+1,at:s.get(i+1)??-1,text:r})),...n.filter(({line:r})=>r>e.length)]}function cr({hottest:t},e,n){let s=t.find(o=>!n||!!n[o-1]?.trim())??t[0];return e.findIndex(({line:o})=>o===s)}function ur({lines:t,text:e,picked:n}){let s=Y(()=>lr(t,e),[t,e]),o=ue(s.length),[r,i]=D(-1),l=T(t.self,t.selfTime_ns),a=T(t.total,t.totalTime_ns),c=T(t.whole.samples,t.whole.time_ns),m=l.reduce((h,p)=>Math.max(h,p),0)||1;z(()=>{let h=cr(t,s,e);h<0||(i(h),o.centre(h))},[n,e===null]);let u=h=>{i(h),o.reveal(h)},d=()=>s.map(({line:h,at:p,text:w})=>[p<0?"":j(a[p]),p<0?"":j(l[p]),String(h),w]);return f("div",{class:"table source",children:[f("div",{class:"head","aria-hidden":"true",children:[f("span",{class:"share",children:"total"}),f("span",{class:"share",children:"self"}),f("span",{class:"number",children:Ie.value}),f("span",{class:"line",children:"line"})]}),f("div",{class:"body",ref:o.body,tabIndex:0,role:"list","aria-label":`Lines of ${t.file}`,onKeyDown:h=>o.onKey(h,r,u),onScroll:o.onScroll,onCopy:h=>ze(h,d),children:f("div",{style:{height:`${s.length*ce}px`},children:s.slice(o.first,o.last).map(({line:h,at:p,text:w},x)=>f("div",{class:o.first+x===r?"row current":"row",role:"listitem",style:{top:`${(o.first+x)*ce}px`,"--heat":p<0?"0%":`${Math.round(60*l[p]/m)}%`},onClick:()=>i(o.first+x),children:[f(Q,{part:p<0?0:a[p],whole:c,samples:t.total[p]??0}),f(Q,{part:p<0?0:l[p],whole:c,samples:t.self[p]??0}),f(Ue,{weight:p<0?0:a[p]}),f("span",{class:"line",children:h}),f("code",{children:w})]},h))})})]})}function fr(){let{picked:t,sandwich:e}=O.value;return e.middle&&e.of===t?e.middle:t}function mr({search:t}){let e=fr(),n=N.value?Ne(e):-1,{colour:s}=O.value,o=H("sandwich",{...A.value,fn:n,order:Le.value,colour:s}),r=wn(t);if(!o||!r)return null;if(o.fn<0)return f(Z,{});let i=Re(o.fn);return f("div",{class:"sandwich",children:[f("div",{class:"list",children:f(xn,{table:r,current:i,brief:!0})}),f("div",{class:"halves",children:[o.total>0&&f(ys,{half:"callers",of:o,search:t,middle:i}),f(dr,{of:o}),o.total>0&&f(ys,{half:"callees",of:o,search:t,middle:i})]})]})}function dr({of:{fn:t,self:e,total:n,whole:s,samples:o}}){let r=(i,l,a)=>f("span",{children:[i," ",J(l,s,a)," \xB7 ",j(l," samples")]});return f("div",{class:"middle",onContextMenu:i=>{L({picked:Re(t),sandwich:it.sandwich}),Zt(i)},children:[f("span",{class:"name",children:f(De,{fn:t,room:.4*innerWidth})}),n>0?f(Nt,{children:[r("self",e,o.self),r("total",n,o.total)]}):f("span",{class:"faint",children:"is in no sample of this selection"})]})}var pr={callers:"No callers: threads begin with it.",callees:"No callees: all its time is its own."};function ys({half:t,of:e,search:n,middle:s}){let o=e[t],{picked:r}=O.value,[i,l]=D(null);z(()=>l(null),[s]);let a=Y(()=>ve(o,n,r),[o,n,r,Be.value,we.value]),{whole:c}=o,m=(d,h)=>({from:d.from*h,to:d.to*h}),u=d=>Re(o.fn[d]);return f("div",{class:"half",children:[o.node.length===0&&f("p",{class:"empty",children:pr[t]}),f(fn,{boxes:o,paint:a,range:m(i??{from:0,to:1},c),onRange:d=>l(d&&m(d,1/c)),rootBelow:t==="callers",label:`${t==="callers"?"Callers":"Callees"} of ${ge(e.fn)}: ${j(c," samples")}`,onPick:(d,h)=>{let p=un(o,d,h).map(u);qt.value=t==="callers"?[...p.reverse(),s]:[s,...p],L({picked:u(d),sandwich:{of:u(d),middle:s}})},onZoom:d=>L({picked:u(d),sandwich:it.sandwich}),tip:(d,h)=>[...dn(o,d,h,e.whole),`${J(h&&h.boxes>1?h.weight:o.width[d],c,T(c,1/0))} of ${ge(e.fn)}`]})]})}function hr({search:t}){let{threads:e,processes:n,...s}=A.value.filter,{threadSort:o,laneFind:r}=O.value,i=H("threadTable",{...A.value,filter:s,sort:o,find:r});return!i||!N.value?null:!i.rows.length&&!r?f(Z,{}):f("div",{class:"stacked",children:[f(br,{shown:i.rows.length}),f("div",{class:"rest",children:f(wr,{table:i,search:t})})]})}function br({shown:t}){let{laneFind:e,filter:n}=O.value,s=n.threads?.length??0;return f("div",{class:"bar-of-view",children:[f("input",{type:"search",placeholder:"name, pid or tid\u2026","aria-label":"Find threads by name, pid or tid",value:e,onInput:({currentTarget:{value:o}})=>e?Ht({laneFind:o}):L({laneFind:o})}),f("span",{children:[oe(t)," ",t===1?"thread":"threads",s>0&&`, ${oe(s)} selected`]}),s>0&&f("button",{onClick:vs,children:"Show all threads"})]})}function vs(){let{threads:t,processes:e,...n}=O.value.filter;L({filter:n})}function gr(){let{states:t}=N.value;return[...ct.filter(e=>t.includes(e)),...t.filter(e=>!ct.includes(e))].map(e=>[e,t.indexOf(e)])}function wr({table:t,search:e}){let{threads:n,extent_us:s}=N.value,{filter:o}=O.value,{rows:r}=t,i=Wt(),l=ue(r.length),a=b=>(!o.threads||o.threads.includes(n[b].tid))&&(!o.processes||o.processes.includes(n[b].pid)),c=!!(o.threads||o.processes),m=o.threads?r.findIndex(a):-1,u=gr(),d=T(t.samples,t.time_ns),h=d.reduce((b,y)=>b+y,0),p=b=>`${((b-(s?.[0]??0))/1e6).toFixed(2)} s`,w=(b,y=!1)=>{let{processes:P,...be}=o;L({filter:ut(be,[n[b].tid],y)})},x=b=>{let{threads:y,...P}=o;L({filter:ut(P,[n[r[b]].tid],!1)}),l.reveal(b)},S=b=>u.map(([y,P])=>[y,t.states[b*N.value.states.length+P]]).filter(([,y])=>y>0).map(([y,P])=>`${y} ${J(P,t.samples[b],t.samples[b])}`).join(", "),g=b=>[Kt(n[b].pid),String(n[b].tid),ye(t.time_ns[b]),J(d[b],h,t.samples[b]),oe(t.samples[b]),p(t.first_us[b]),p(t.last_us[b])],v=[["name","name","thread"],["process","process","process"],["tid","number tid","tid"],["time","number time","CPU time"],[T("samples","time"),"share",`of ${T("samples","time")}`],["samples","number count","samples"],["first","number first","first seen"],["last","number last","last seen"],...u.length>1?[["states","states","states"]]:[],["","activity","activity"],["busiest","busiest","busiest function"]];return f(on,{kind:"threads",sight:l,count:r.length,row:b=>{let y=r[b],[P,be,Qe,,ks,Ss,_s]=g(y),et=t.busiest[y],tt=["row"];return c&&tt.push(a(y)?"current":"faint"),e&&tt.push(e.hits[et]?"hit":"miss"),f("div",{class:tt.join(" "),...rn(b,b===m?i:void 0),"aria-selected":c&&a(y),onClick:({shiftKey:nt,ctrlKey:st,metaKey:Os})=>w(y,nt||st||Os),onDblClick:vs,children:[f("span",{class:"name",children:f("bdi",{title:n[y].name,children:n[y].name||"(no name)"})}),f("span",{class:"process",dir:"auto",title:P,children:P}),f("span",{class:"number tid",children:be}),f("span",{class:"number time",children:Qe}),f(Q,{part:d[y],whole:h,samples:t.samples[y]}),f("span",{class:"number count",children:ks}),f("span",{class:"number first",children:Ss}),f("span",{class:"number last",children:_s}),u.length>1&&f("span",{class:"states",title:S(y),children:u.map(([nt,st])=>f("i",{style:{flexGrow:t.states[y*N.value.states.length+st],background:vn(nt,F.value)}}))}),f(xr,{of:t.activity.subarray(y*Ee,(y+1)*Ee)}),f("span",{class:"busiest name",children:et>=0&&f(De,{fn:et})})]},y)},current:m>=0?i:void 0,label:"Threads; arrows select one",empty:"No matching threads.",sorted:"threadSort",headings:v,onKeyDown:b=>l.onKey(b,m,x),text:()=>[["process","tid","CPU time","share","samples","first","last","thread"],...Array.from(r,b=>[...g(b),`${n[b].name}  ${S(b)}`])]})}function xr({of:t}){let e=Array.from(t,(n,s)=>`L${s} ${(1-n).toFixed(2)}h1`);return f("svg",{class:"activity",viewBox:`0 0 ${Ee} 1`,preserveAspectRatio:"none","aria-hidden":"true",children:f("path",{d:`M0 1${e.join("")}V1`})})}export{Ms as Compare,Lo as HeatMap,Zo as Help,mr as Sandwich,qo as Save,ir as Source,hr as ThreadTable,Gs as openFile,Eo as written};
